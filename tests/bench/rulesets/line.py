"""The line that every ruleset here is written for, from the options of the generator that imports this."""
import argparse


def ranges(a, k, psid):
    """Port ranges of RFC 7597 section 5.1, first and last port of each."""
    m = 16 - a - k
    return [((i << (16 - a)) | (psid << m), (i << (16 - a)) | (psid << m) | ((1 << m) - 1))
            for i in range(1 if a else 0, 1 << a)]


class Line:
    def __init__(self, description):
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--tunnel", default="mape0")
        parser.add_argument("--ipv4", default="153.240.174.134")
        parser.add_argument("--port-set", default="6,6,44", metavar="A,K,PSID")
        parser.add_argument("--mtu", type=int, default=1460)
        parser.add_argument("--lan", default="192.168.1.0/24")
        parser.add_argument("--router", default="192.168.1.1")
        parser.add_argument("--lan-device", default="lan0")
        parser.add_argument("--flowtable", action="store_true", help="by-hand only")
        options = parser.parse_args()
        self.__dict__.update(vars(options))
        self.a, self.k, self.psid = map(int, options.port_set.split(","))
        self.ranges = ranges(self.a, self.k, self.psid)
