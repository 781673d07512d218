// Values out of text for tests, and their text in a failed check.
#pragma once

#include "map/rule_table.h"
#include "net/address.h"
#include "net/port_range.h"

#include <doctest/doctest.h>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace doctest {

template <>
struct StringMaker<mape::Ipv4Address> {
    static String convert(const mape::Ipv4Address& value) { return mape::to_text(value).c_str(); }
};
template <>
struct StringMaker<mape::Ipv6Address> {
    static String convert(const mape::Ipv6Address& value) { return mape::to_text(value).c_str(); }
};
template <>
struct StringMaker<mape::Ipv4Prefix> {
    static String convert(const mape::Ipv4Prefix& value) { return mape::to_text(value).c_str(); }
};
template <>
struct StringMaker<mape::Ipv6Prefix> {
    static String convert(const mape::Ipv6Prefix& value) { return mape::to_text(value).c_str(); }
};
template <>
struct StringMaker<mape::PortRange> {
    static String convert(const mape::PortRange& value) { return mape::to_text(value).c_str(); }
};

}  // namespace doctest

namespace mape::test {

/// The value, or an exception that doctest reports with the error's text.
template <class T>
T value(Result<T> result)
{
    if (!result)
        throw std::runtime_error(to_text(result.error()));
    return *std::move(result);
}

template <class T>
std::string error(const Result<T>& result)
{
    return result ? "no error" : to_text(result.error());
}

inline Ipv4Address v4(std::string_view text) { return value(Ipv4Address::parse(text)); }
inline Ipv6Address v6(std::string_view text) { return value(Ipv6Address::parse(text)); }
inline Ipv4Prefix p4(std::string_view text) { return value(Ipv4Prefix::parse(text)); }
inline Ipv6Prefix p6(std::string_view text) { return value(Ipv6Prefix::parse(text)); }
inline PortRange ports(std::string_view text) { return value(PortRange::parse(text)); }

inline std::string read_file(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw std::runtime_error("cannot read " + path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Lines of a table of test data, by column name.
inline std::vector<std::map<std::string, std::string>> read_tsv(const std::string& path)
{
    std::vector<std::map<std::string, std::string>> rows;
    std::vector<std::string> names;
    std::istringstream file(read_file(path));
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#'))
            continue;
        std::vector<std::string> cells;
        std::istringstream fields(line);
        for (std::string cell; std::getline(fields, cell, '\t');)
            cells.push_back(cell);
        if (names.empty()) {
            names = cells;
            continue;
        }
        cells.resize(names.size());
        std::map<std::string, std::string> row;
        for (std::size_t i = 0; i < names.size(); ++i)
            row[names[i]] = cells[i];
        rows.push_back(row);
    }
    return rows;
}

inline std::vector<RuleRow> read_rules(const std::string& directory, const std::string& file)
{
    return value(parse_rule_table(read_file(directory + "/" + file), file));
}

/// The tables of profiles/isp.
inline const RuleTables& shipped_tables()
{
    static const RuleTables tables = [] {
        RuleTables all;
        for (const char* file : {"biglobe.tsv", "nuro.tsv", "ocn.tsv", "v6plus.tsv"})
            all.add(read_rules(MAPE_PROFILES "/isp", file), file, false);
        return all;
    }();
    return tables;
}

/// The shipped tables and doc.tsv as a user's.
inline const RuleTables& tables_with_doc()
{
    static const RuleTables tables = [] {
        RuleTables all = shipped_tables();
        all.add(read_rules(MAPE_TEST_DATA, "doc.tsv"), "doc.tsv", true);
        return all;
    }();
    return tables;
}

inline MapRuleFields fields(std::string_view rule_ipv6, std::string_view rule_ipv4, std::uint32_t ea_length)
{
    MapRuleFields fields;
    fields.rule_ipv6 = p6(rule_ipv6);
    fields.rule_ipv4 = p4(rule_ipv4);
    fields.ea_length = ea_length;
    return fields;
}

}  // namespace mape::test
