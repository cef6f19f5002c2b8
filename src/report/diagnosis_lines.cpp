#include "report/diagnosis_lines.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/number_format.hpp"
#include "expr/print.hpp"
#include "report/json_text.hpp"

namespace appell {

namespace {

using Json = nlohmann::ordered_json;

std::string plural(std::size_t count, std::string_view word) {
    return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

// components of vector equations have a comma in their names
std::string row_name(const ConstraintRow& row) {
    return row.name.find(',') == std::string::npos ? row.name : fmt::format("[{}]", row.name);
}

std::string counts_sentence(const Counts& c) {
    std::string out = fmt::format("n = {}", c.n);
    out += c.position > 0 ? fmt::format(" ({} - {} on positions)", plural(c.speeds, "speed"), c.position) : "";
    out += fmt::format(", m = {} linear, p = n - m = {}, l = {} nonlinear, c = p - l = {} {}", c.m, c.p, c.l, c.c,
                       c.c == 1 ? "degree of freedom" : "degrees of freedom");
    return out;
}

// "holonomic, scleronomic, ideal"; the verdict of integrability where there is one
std::string kind_of_row(const Diagnosis& diagnosis, const RowClass& row) {
    std::vector<std::string> words;
    if (row.level == Level::acceleration) {
        words.emplace_back("on accelerations");
    } else if (row.level == Level::position) {
        words.emplace_back("holonomic");
    } else if (row.linearity == Linearity::nonlinear) {
        const bool linear = std::any_of(diagnosis.factors.rows.begin(), diagnosis.factors.rows.end(),
                                        [&](const LinearRow& r) { return r.row == row.row; });
        words.emplace_back(linear ? "nonlinear as written" : "nonlinear nonholonomic");
    } else {
        std::string word = "linear in the velocities";
        if (diagnosis.integrability) {
            const Integrability& all = *diagnosis.integrability;
            for (std::size_t i = 0; i < all.rows.size(); ++i) {
                if (all.rows[i] != row.row) continue;
                word = !all.decided        ? "linear; integrability not decided"
                       : !all.holonomic[i] ? "linear nonholonomic"
                       : all.exact[i]      ? "linear, holonomic: it is the time derivative of a function"
                       : all.alone[i]      ? "linear, holonomic after multiplication by a factor"
                                           : "linear, holonomic together with the others";
            }
        }
        words.push_back(std::move(word));
    }
    if (row.level != Level::acceleration) words.emplace_back(row.rheonomic ? "rheonomic" : "scleronomic");
    if (row.degree) words.push_back(fmt::format("homogeneous of degree {} in the speeds", short_number(*row.degree)));
    if (row.affine_degree) words.push_back(fmt::format("affine of degree {} in the speeds", short_number(*row.affine_degree)));
    words.emplace_back(row.by_actuators ? "kept by actuators" : row.ideal ? "ideal" : "not ideal");
    return fmt::format("{}", fmt::join(words, "; "));
}

std::string state_text(const std::vector<std::pair<std::string, double>>& state) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : state) parts.push_back(fmt::format("{} = {}", name, short_number(value, 4)));
    return fmt::format("{}", fmt::join(parts, ", "));
}

void integrability_lines(const Graph& g, const Integrability& all, bool nonlinear, std::vector<DiagnosisLine>& out) {
    const std::string space = all.time ? "configurations and time" : "configurations";
    std::string sentence =
        fmt::format("the linear rows leave a distribution that grows ({}) under brackets in {} dimensions of {}",
                    fmt::join(all.growth, ", "), all.dimension, space);
    if (!all.decided)
        sentence += "; the brackets became too large to go on";
    else if (all.integrals == 0)
        sentence += all.time || nonlinear ? ": no holonomic constraint is among them"
                                          : ": every configuration can be reached, no holonomic constraint is among them";
    else if (all.hidden() == 0)
        sentence += fmt::format(": {} stated, none hidden", plural(all.stated, "holonomic constraint"));
    else
        sentence += fmt::format(": {} hidden among them{}", plural(all.hidden(), "holonomic constraint"),
                                all.stated > 0 ? fmt::format(", besides {} stated", all.stated) : "");
    out.push_back({"integrability", std::move(sentence)});
    for (const NodeId F : all.found) out.push_back({"integrability", fmt::format("constant in every motion: {}", to_text(g, F))});
    if (all.decided && all.found.size() < all.hidden())
        out.push_back(
            {"integrability", fmt::format("{} of them without a closed form that was found", all.hidden() - all.found.size())});
}

void singular_lines(const ConstrainedDynamics& d, const SingularStates& s, std::vector<DiagnosisLine>& out) {
    const Graph& g = d.graph();
    if (s.start_rank < s.rank)
        out.push_back(
            {"rank", fmt::format("at the start the rows have rank {}, almost everywhere else {}", s.start_rank, s.rank)});
    if (s.never) {
        out.push_back({"rank", fmt::format("the rank of the rows, {}, can not be lost", s.rank)});
        return;
    }
    if (!s.vanishing.empty()) {
        std::vector<std::string> texts;
        for (const NodeId node : s.vanishing) texts.push_back(to_text(g, node));
        out.push_back({"rank", texts.size() == 1
                                   ? fmt::format("rank is lost only where {} = 0", texts.front())
                                   : fmt::format("rank is lost only where all of these vanish: {}", fmt::join(texts, "; "))});
    }
    if (s.start_rank < s.rank) return;
    if (s.found) {
        std::vector<std::string> names;
        for (const std::size_t row : s.weak) names.push_back(row_name(d.rows[row]));
        out.push_back({"rank", fmt::format("the nearest singular state found{}: {} (rows {})",
                                           s.special.empty() ? "" : fmt::format(", where {}", fmt::join(s.special, " and ")),
                                           state_text(s.state), fmt::join(names, ", "))});
    } else {
        out.push_back({"rank", "no singular state was found near the start"});
    }
}

void power_lines(const ConstrainedDynamics& d, const PowerAudit& audit, std::vector<DiagnosisLine>& out) {
    const Graph& g = d.graph();
    std::vector<std::string> workless;
    for (const RowPower& row : audit.rows) {
        const ConstraintRow& r = d.rows[row.row];
        if (row.workless)
            workless.push_back(row_name(r));
        else
            out.push_back({"power", fmt::format("the force of {} has the power {}*({})", row_name(r), g.symbol(r.multiplier).name,
                                                to_text(g, row.per_multiplier))});
    }
    if (!workless.empty()) out.push_back({"power", fmt::format("workless: {}", fmt::join(workless, ", "))});
    if (!audit.decided) return;
    out.push_back({"power", audit.energy_conserved
                                ? "the energy T + V is constant"
                                : fmt::format("the energy T + V is not constant{}",
                                              audit.reasons.empty() ? "" : fmt::format(": {}", fmt::join(audit.reasons, "; ")))});
    for (const Conserved& c : audit.conserved)
        out.push_back({"power", fmt::format("{} is constant: {}", c.name, to_text(g, c.value))});
}

void implication_lines(const Model& m, const std::vector<ImplicationFinding>& findings, std::vector<DiagnosisLine>& out) {
    for (const ImplicationFinding& f : findings) {
        const std::string& text = m.implications[f.implication].text;
        std::string verdict;
        switch (f.verdict) {
            case Verdict::holds: verdict = fmt::format("holds at all {} states found", f.states); break;
            case Verdict::holds_except:
                verdict = fmt::format("holds except where {} ({} of {} states found)", fmt::join(f.exceptional, " or "),
                                      f.exceptions, f.states);
                break;
            case Verdict::fails: verdict = fmt::format("FAILS, for instance at {}", state_text(f.example)); break;
            case Verdict::vacuous: verdict = "says nothing: the premises hold nowhere but where it is excepted"; break;
            case Verdict::undecided:
                verdict =
                    "not decided: " + (f.why.empty() ? fmt::format("only {} states satisfy the premises", f.states) : f.why);
                break;
        }
        out.push_back({"implication", fmt::format("{}: {}", text, verdict)});
    }
}

}  // namespace

std::vector<DiagnosisLine> diagnosis_lines(const ConstrainedDynamics& d, const Diagnosis& diagnosis) {
    std::vector<DiagnosisLine> out;
    if (!diagnosis.examined) {
        out.push_back({"counts", fmt::format("not examined: {}", diagnosis.not_examined)});
        return out;
    }
    const bool same = diagnosis.generic.c == diagnosis.start.c && diagnosis.generic.m == diagnosis.start.m &&
                      diagnosis.generic.l == diagnosis.start.l && diagnosis.generic.position == diagnosis.start.position;
    out.push_back({"counts", counts_sentence(diagnosis.generic)});
    if (!same) out.push_back({"counts", fmt::format("at the start: {}", counts_sentence(diagnosis.start))});
    for (const RowClass& row : diagnosis.rows)
        out.push_back({fmt::format("constraint {}", d.rows[row.row].name), kind_of_row(diagnosis, row)});
    if (diagnosis.integrability) {
        const bool nonlinear = std::any_of(diagnosis.rows.begin(), diagnosis.rows.end(),
                                           [](const RowClass& row) { return row.linearity == Linearity::nonlinear; });
        integrability_lines(d.graph(), *diagnosis.integrability, nonlinear, out);
    }
    for (const LinearRow& row : diagnosis.factors.rows) out.push_back({"linear in truth", row.sentence});
    for (const LinearTogether& rows : diagnosis.factors.together) out.push_back({"linear in truth", rows.sentence});
    for (const std::string& sentence : diagnosis.redundancy.sentences) out.push_back({"redundancy", sentence});
    if (diagnosis.singular) singular_lines(d, *diagnosis.singular, out);
    if (diagnosis.linear_regular)
        out.push_back({"rank", *diagnosis.linear_regular
                                   ? "with the linear constraints in place of the nonlinear ones no rank is lost there"
                                   : "the linear constraints behind the nonlinear ones lose rank there, too"});
    power_lines(d, diagnosis.power, out);
    implication_lines(*d.model, diagnosis.implications, out);
    return out;
}

std::string diagnosis_text(const ConstrainedDynamics& d, const Diagnosis& diagnosis) {
    std::string out = "  diagnosis\n";
    for (const DiagnosisLine& line : diagnosis_lines(d, diagnosis)) out += fmt::format("    {}: {}\n", line.topic, line.sentence);
    return out;
}

std::string diagnosis_json(const ConstrainedDynamics& d, const Diagnosis& diagnosis) {
    const auto counts = [](const Counts& c) {
        return Json{
            {"speeds", c.speeds}, {"position_rows", c.position}, {"n", c.n}, {"m", c.m}, {"p", c.p}, {"l", c.l}, {"c", c.c}};
    };
    Json out{{"examined", diagnosis.examined}};
    if (diagnosis.examined) {
        out["counts"] = {{"generic", counts(diagnosis.generic)}, {"start", counts(diagnosis.start)}};
        if (diagnosis.integrability) {
            const Integrability& all = *diagnosis.integrability;
            Json found = Json::array();
            for (const NodeId F : all.found) found.push_back(to_text(d.graph(), F));
            out["integrability"] = {{"growth", all.growth}, {"dimension", all.dimension}, {"with_time", all.time},
                                    {"stated", all.stated}, {"hidden", all.hidden()},     {"decided", all.decided},
                                    {"integrals", found}};
        }
        out["energy_conserved"] = diagnosis.power.energy_conserved;
    }
    Json lines = Json::array();
    for (const DiagnosisLine& line : diagnosis_lines(d, diagnosis))
        lines.push_back({{"topic", line.topic}, {"sentence", line.sentence}});
    out["findings"] = lines;
    return json_text(out, -1);
}

}  // namespace appell
