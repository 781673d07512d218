// One call of the program, parsed: what a command function gets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apply/settings.h"
#include "map/rule_table.h"

namespace mape::cli {

/// Options that are no configuration keys; each belongs to the commands its row in flags.cpp names.
struct Flags {
    bool json = false;
    bool explain = false;
    bool dry_run = false;
    bool verbose = false;
    bool quiet = false;
    bool help = false;
    bool version = false;
    std::uint32_t lock_timeout = 10;                ///< seconds; 0: do not wait
    std::optional<std::string> config;              ///< --config; none: the default file of `Invocation::name`
    std::string state_dir = "/run/mape-gen";
    std::optional<std::string> data_dir;            ///< --data-dir; else data_dir() in data.h decides
};

struct Invocation {
    std::string command;
    std::vector<std::string> arguments;             ///< what stood behind the command, options removed
    std::string name = "mape0";                     ///< NAME: the configuration, the tunnel device unless [tunnel] tunnel says else
    Flags flags;
    Settings settings;                              ///< file and options together, options winning
    std::vector<std::string> config_files;          ///< the files that were read, in order; none is fine
    RuleTables tables;                              ///< shipped and the user's
    bool prefix_is_auto = false;                    ///< neither file nor options state a prefix (or say auto)
};

/// The tunnel device: [tunnel] tunnel, else NAME (which run() has checked to be a device name).
[[nodiscard]] InterfaceName tunnel_name(const Invocation& invocation);

}  // namespace mape::cli
