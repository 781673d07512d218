#include "cli/json.h"

#include <nlohmann/json.hpp>

namespace mape::cli {

using nlohmann::ordered_json;

void set_isps(Output& output, const std::vector<IspSummary>& isps)
{
    ordered_json list = ordered_json::array();
    for (const IspSummary& isp : isps)
        list.push_back({{"isp", isp.name}, {"rows", isp.rows}, {"confidence", isp.confidences}, {"files", isp.files}});
    output.set_json({{"isps", list}, {"rows", nullptr}});
}

void set_rows(Output& output, const std::vector<const RuleRow*>& rows)
{
    ordered_json list = ordered_json::array();
    for (const RuleRow* row : rows)
        list.push_back({{"isp", row->isp},
                        {"ipv6_prefix", to_text(row->rule.ipv6_prefix())},
                        {"ipv4_prefix", to_text(row->rule.ipv4_prefix())},
                        {"ea_length", row->rule.ea_length()},
                        {"psid_offset", row->rule.psid_offset()},
                        {"psid_length", row->rule.psid_length()},
                        {"iid", to_text(row->rule.iid())},
                        {"br", row->br ? ordered_json(to_text(*row->br)) : ordered_json(nullptr)},
                        {"mtu", row->mtu ? ordered_json(*row->mtu) : ordered_json(nullptr)},
                        {"confidence", to_text(row->confidence)},
                        {"source", row->source},
                        {"file", row->file},
                        {"line", row->line}});
    output.set_json({{"isps", nullptr}, {"rows", list}});
}

}  // namespace mape::cli
