#include <doctest/doctest.h>

#include "nft/text.h"
#include "statements.h"

using namespace mape::nft;

TEST_CASE("each statement says what nft calls it")
{
    for (const statement_samples::Sample& sample : statement_samples::all())
        CHECK(to_text(Rule{sample.statements}) == sample.text);
}

TEST_CASE("a rule's comment")
{
    CHECK(to_text(Rule{{Notrack{}}, "why"}) == "notrack comment \"why\"");
}

TEST_CASE("a table, piece by piece")
{
    Table table{{Family::ip, "t"}, "mark"};
    table.counters = {{"c"}, {"d", "what it counts"}};
    table.maps = {{"m", {{0, 0, "r"}, {1, 3, "s"}}, "why"}};
    table.chains = {{"r", {}, {{{Verdict{Verdict::Kind::accept}}}}},
                    {"s", {}, {{{Verdict{Verdict::Kind::drop}}}}, "for nobody"},
                    {"e"},
                    {"b", Base{Base::Type::nat, Hook::postrouting, 99}, {{{NumgenVmap{4, "m"}}}}, "first packets"}};
    CHECK(to_text(Ruleset{{table}}) == R"(table ip t
delete table ip t
table ip t {
	comment "mark"
	counter c { }
	counter d { comment "what it counts"; }
	map m {
		typeof meta cpu : verdict
		flags interval
		comment "why"
		elements = { 0 : jump r, 1-3 : jump s }
	}
	chain r { accept; }
	chain s {
		comment "for nobody"
		drop
	}
	chain e {
	}
	chain b {
		comment "first packets"
		type nat hook postrouting priority srcnat - 1; policy accept;
		numgen inc mod 4 vmap @m
	}
}
)");
}

TEST_CASE("priorities by name where nft has one for the hook")
{
    const auto priority = [](Hook hook, int number) {
        const std::string text =
            to_text(Ruleset{{Table{{Family::ip, "t"}, {}, {}, {}, {{"c", Base{Base::Type::filter, hook, number}}}}}});
        const auto start = text.find("priority ") + 9;
        return text.substr(start, text.find(';') - start);
    };
    CHECK(priority(Hook::postrouting, 101) == "srcnat + 1");
    CHECK(priority(Hook::prerouting, -101) == "dstnat - 1");
    CHECK(priority(Hook::input, -5) == "filter - 5");
    CHECK(priority(Hook::output, -300) == "raw");
    CHECK(priority(Hook::input, 100) == "100");
    CHECK(priority(Hook::postrouting, -100) == "-100");
    CHECK(priority(Hook::input, 11) == "11");
}

TEST_CASE("a netdev chain has a device")
{
    Chain chain{"c", Base{Base::Type::filter, Hook::ingress, 0, *mape::InterfaceName::parse("wan0")}};
    const std::string text = to_text(Ruleset{{Table{{Family::netdev, "t"}, {}, {}, {}, {chain}}}});
    CHECK(text.find("type filter hook ingress device \"wan0\" priority filter; policy accept;") != std::string::npos);
    CHECK(text.find("table netdev t {") != std::string::npos);
}

TEST_CASE("deleting makes sure that there is something to delete")
{
    CHECK(delete_text({{Family::ip, "a"}, {Family::ip6, "b"}})
          == "table ip a\ndelete table ip a\ntable ip6 b\ndelete table ip6 b\n");
}
