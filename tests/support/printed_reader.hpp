// What `derive` prints, read back as text and evaluated at random consistent states, with u' and the multipliers from the numeric
// solves.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "dynam/formulations.hpp"
#include "pipeline/consistent_states.hpp"
#include "pipeline/print_equations.hpp"
#include "support/gallery_run.hpp"
#include "support/random_state.hpp"
#include "support/text_evaluator.hpp"
#include "tape/workspace.hpp"

namespace appell {

using Json = nlohmann::json;

// A model at one random consistent state, with everything a printed formula may mention.
class Reader {
public:
    Reader(const ConstrainedDynamics& d, const std::vector<double>& inputs, const Json& printed) : d_(d) {
        const Graph& g = d.graph();
        const Model& m = *d.model;
        state_.values = std::vector<double>(g.symbol_count(), 0.0);
        const std::vector<SymbolId> symbols = program_inputs(m);
        for (std::size_t i = 0; i < symbols.size(); ++i) state_.values[symbols[i].index()] = inputs[i];
        // multipliers, what they were without nonideal forces, and magnitudes of actuators
        std::vector<SymbolId> others = d.actuators;
        for (const ConstraintRow& row : d.rows) {
            if (row.by_actuators) continue;
            others.push_back(row.multiplier);
            const Constraint& c = m.constraints[row.constraint];
            for (std::size_t k = 0; k < c.multipliers.size() && !d.C.empty(); ++k)
                if (c.multipliers[k] == row.multiplier) others.push_back(c.ideal_multipliers[k]);
        }
        const auto solve = [&](Formulation formulation) {
            ProgramSpec spec{symbols, FormulatedDynamics(d, formulation).solves(), {{"ud", {}}, {"others", {}}}};
            for (const Speed& s : m.speeds) spec.outputs[0].values.push_back(d.graph().symbol_node(s.rate));
            for (const SymbolId s : others) spec.outputs[1].values.push_back(d.graph().symbol_node(s));
            const Program program = lower_program(g, spec);
            Workspace<double> w(program);
            std::copy_n(inputs.begin(), symbols.size(), w.inputs().begin());
            EXPECT_EQ(w.run().status, EvalStatus::ok);
            return std::pair{std::vector<double>(w.output("ud").begin(), w.output("ud").end()),
                             std::vector<double>(w.output("others").begin(), w.output("others").end())};
        };
        ud_ = solve(Formulation::minimal).first;
        const std::vector<double> found = solve(Formulation::multipliers).second;
        state_.values.resize(g.symbol_count(), 0.0);
        const std::vector<double> qd = state_(d.graph(), d.kinematics->coordinate_rates());
        for (std::size_t i = 0; i < qd.size(); ++i) state_.values[m.coordinates[i].rate.index()] = qd[i];
        for (std::size_t i = 0; i < ud_.size(); ++i) state_.values[m.speeds[i].rate.index()] = ud_[i];
        for (std::size_t i = 0; i < found.size(); ++i) state_.values[others[i].index()] = found[i];
        for (std::size_t i = 0; i < state_.values.size(); ++i) set(g.symbol(SymbolId(i)).name, state_.values[i]);
        basis();
        for (const Json& z : printed["intermediates"]) texts_.emplace_back(z["name"], z["value"]);
    }

    // a number under a name; names that are no identifiers get one
    void set(const std::string& name, double value) {
        values_[name] = value;
        ready_ = false;
    }
    [[nodiscard]] double get(const std::string& name) const { return values_.at(name); }
    [[nodiscard]] bool knows(const std::string& name) const { return values_.contains(name); }

    // vectors have three components in the Newtonian basis
    [[nodiscard]] bool is_vector(const std::string& text) const {
        return std::any_of(basis_.begin(), basis_.end(), [&](const auto& b) { return text.find(b.first) != std::string::npos; });
    }
    double number(const std::string& text) {
        prepare(0);
        return (*evaluate_)(plain(text));
    }
    Eigen::Vector3d vector(const std::string& text) {
        Eigen::Vector3d out;
        for (int axis = 0; axis < 3; ++axis) {
            prepare(axis);
            out[axis] = (*evaluate_)(plain(text));
        }
        ready_ = false;
        return out;
    }
    Eigen::MatrixXd matrix(const Json& block) {
        Eigen::MatrixXd out = Eigen::MatrixXd::Zero(block["rows"], block["columns"]);
        for (const Json& e : block["entries"])
            out(e["row"].get<int>(), e["column"].get<int>()) = number(e["text"].get<std::string>());
        return out;
    }

    [[nodiscard]] const std::vector<double>& ud() const { return ud_; }
    [[nodiscard]] const State<double>& state() const { return state_; }

    // acceleration of a point, angular acceleration of a frame: complex step along the motion
    Eigen::Vector3d rate_of(const Vec3& v) {
        Kinematics& kin = *d_.kinematics;
        const Vec3 fixed = kin.frames().express(v, Model::newtonian());
        std::vector<double> ud;
        for (const Speed& s : d_.model->speeds) ud.push_back(values_.at(d_.graph().symbol(s.rate).name));
        State<double> grown = state_;
        grown.values.resize(d_.graph().symbol_count(), 0.0);
        const auto moved = along_motion(d_, grown, ud);
        Eigen::Vector3d out;
        for (int i = 0; i < 3; ++i) out[i] = moved(d_.graph(), fixed.c[static_cast<std::size_t>(i)]).imag() / k_complex_step;
        return out;
    }

private:
    void basis() {
        Kinematics& kin = *d_.kinematics;
        static constexpr const char* k_axes[] = {".x", ".y", ".z"};
        for (std::size_t f = 0; f < d_.model->frames.size(); ++f) {
            const Matrix3 R = kin.frames().rotation(Model::newtonian(), FrameId(f));
            for (std::size_t axis = 0; axis < 3; ++axis) {
                Eigen::Vector3d e;
                for (std::size_t i = 0; i < 3; ++i) e[static_cast<int>(i)] = state_(d_.graph(), R[3 * i + axis]);
                basis_[d_.model->frames[f].name + k_axes[axis]] = e;
            }
        }
    }

    // identifiers for names with brackets and dots; the longest names first, so that none is found inside another
    std::string plain(std::string text) const {
        for (const auto& [name, identifier] : renamed_) {
            const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '\''; };
            for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + identifier.size())) {
                if ((at > 0 && part(text[at - 1])) || (at + name.size() < text.size() && part(text[at + name.size()]))) {
                    ++at;
                    continue;
                }
                text.replace(at, name.size(), identifier);
            }
        }
        return text;
    }

    void prepare(int axis) {
        if (ready_ && axis == axis_) return;
        std::vector<std::pair<std::string, double>> odd;
        std::map<std::string, double> known;
        for (const auto& [name, value] : values_) {
            const bool simple =
                std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '\''; });
            if (simple)
                known[name] = value;
            else
                odd.emplace_back(name, value);
        }
        for (const auto& [name, e] : basis_) odd.emplace_back(name, e[axis]);
        std::stable_sort(odd.begin(), odd.end(), [](const auto& x, const auto& y) { return x.first.size() > y.first.size(); });
        renamed_.clear();
        for (std::size_t i = 0; i < odd.size(); ++i) {
            renamed_.emplace_back(odd[i].first, "odd_name_" + std::to_string(i));
            known[renamed_.back().second] = odd[i].second;
        }
        evaluate_ = std::make_unique<test::TextEvaluator<double>>(std::move(known));
        for (const auto& [name, text] : texts_) evaluate_->define(name, plain(text));
        ready_ = true;
        axis_ = axis;
    }

    const ConstrainedDynamics& d_;
    State<double> state_;
    std::vector<double> ud_;
    std::map<std::string, double> values_;
    std::map<std::string, Eigen::Vector3d> basis_;
    std::vector<std::pair<std::string, std::string>> texts_;  // intermediates
    std::vector<std::pair<std::string, std::string>> renamed_;
    std::unique_ptr<test::TextEvaluator<double>> evaluate_;
    bool ready_ = false;
    int axis_ = 0;
};

struct PrintedModel {
    Derivation derivation;
    Json json;
    std::vector<std::vector<double>> states;
};

inline PrintedModel print_model(const std::string& text, const std::string& formulation,
                                std::optional<std::string> evidence = std::nullopt) {
    PrintedModel out{derive_text(text), {}, {}};
    EXPECT_TRUE(out.derivation.ok()) << render(out.derivation.diagnostics, out.derivation.sources);
    out.json = Json::parse(print_equations(out.derivation, {formulation, "json", std::move(evidence)}).value());
    const auto lowered = lower_motion(*out.derivation.dynamics, {});
    EXPECT_TRUE(lowered.ok());
    CertificateOptions options;
    options.states = 5;
    options.seed = 3;
    out.states = random_consistent_states(*out.derivation.dynamics, *lowered, {}, options).rough;
    EXPECT_EQ(out.states.size(), 5u);
    return out;
}

inline const Json* find_section(const Json& printed, const std::string& title) {
    for (const Json& section : printed["sections"])
        if (section["title"] == title) return &section;
    return nullptr;
}

inline const Json* find_matrix(const Json& printed, const std::string& title, const std::string& name) {
    const Json* section = find_section(printed, title);
    if (section == nullptr) return nullptr;
    for (const Json& block : (*section)["blocks"])
        if (block["kind"] == "matrix" && block["name"]["text"] == name) return &block;
    return nullptr;
}

}  // namespace appell
