// What `derive` prints is true: every equation, table and matrix of every formulation is read back as text and evaluated at
// random consistent states, with u' and the multipliers from the numeric solves. Accelerations come from a complex step along the
// motion, the papers' own equations are code of their own.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "pipeline/print_equations.hpp"
#include "support/appell_hamel.hpp"
#include "support/gallery_run.hpp"
#include "support/printed_reader.hpp"

namespace appell {
namespace {

// Printed texts are evaluated in double from scratch, the solves are backward stable; pivots above 1e-6 cost up to six digits.
constexpr double k_tolerance = 1e-9;

const std::string k_full_pucks =
    "system pucks\nparam m1 = 1 kg, m2 = 2 kg, s1 = 1 N, s2 = 0.3 N, s3 = 1 N, s4 = -0.7 N\n"
    "coord x1 = 1 m, y1 = -2 m, x2 = 1 m, y2 = 2 m\nspeed u1 = x1', u2 = y1', u3 = x2', u4 = y2'\n"
    "start u1 = 0.3 m/s, u2 = 0.4 m/s, u3 = 0.4 m/s, u4 = -0.3 m/s\n"
    "particle P1 mass m1 at O + x1*N.x + y1*N.y\nparticle P2 mass m2 at O + x2*N.x + y2*N.y\n"
    "force on P1 = s1*N.x + s2*N.y\nforce on P2 = s3*N.x + s4*N.y\nconstraint perpendicular: dot(vel(P1), vel(P2)) = 0\n";

const std::map<std::string, std::string>& models() {
    static const std::map<std::string, std::string> all = [] {
        std::map<std::string, std::string> out{
            {"full_pucks", k_full_pucks},
            {"appell_hamel", k_appell_hamel},
            // two rigid bodies, angular velocities stay perpendicular (000 sec. 7), body-fixed speeds
            {"perpendicular_bodies",
             "system two\nparam I1 = 1, I2 = 2, I3 = 3, J1 = 2, J2 = 1.5, J3 = 1.2\ncoord a1 = 0.1, a2 = 0.2, a3 = 0.3, b1 = "
             "0.4, b2 = "
             "0.5, b3 = 0.6\nframe A from N body zxy (a1, a2, a3)\nframe B from N body zxy (b1, b2, b3)\nbody A frame A mass 1 "
             "center O "
             "inertia (I1, I2, I3)\nbody B frame B mass 1 center O inertia (J1, J2, J3)\nspeed w1 = dot(omega(A), A.x), w2 = "
             "dot(omega(A), A.y), w3 = dot(omega(A), A.z)\nspeed v1 = dot(omega(B), B.x), v2 = dot(omega(B), B.y), v3 = "
             "dot(omega(B), "
             "B.z)\nstart w1 = 1, v2 = 1\nconstraint c: dot(omega(A), omega(B)) = 0\n"},
            // friction by the ideal force, speeds named by the model
            {"incline",
             "system incline\nparam m = 2 kg, g = 9.81 m/s^2, mu = 0.2\ncoord x = 0 m, y = 0 m\nframe B from N rotate -30 deg "
             "about "
             "z\nparticle P mass m at O + x*B.x + y*B.y\ngravity -g*N.y\nstart x' = 1 m/s\nconstraint contact: y + x^2/10 = 0 "
             "m\nnonideal contact: force on P = -mu*abs(ideal(contact))*unit(vel(P))\nindependent y'\nrun for 1 s\n"},
            // friction by the reaction, and an actuator that keeps a servo row
            {"bead",
             "system bead\nparam m = 1.5, w = 2, mu = 0.4, v = 0.5\ncoord x = 1, y = 0.1, z = 0\nframe B from N rotate w*t about "
             "z\nparticle P mass m at O + x*N.x + y*N.y + z*N.z\nconstraint rod: dot(vel(P), B.y) = x*w\nnonideal rod: force on "
             "P = "
             "-mu*abs(reaction(rod))*unit(vel(P))\nactuator F: force on P along B.x + N.z\nservo out: z' = x by F\nstart x' = "
             "0.5, "
             "y' = 2\nrun for 1 s\n"},
            // a row on accelerations
            {"level",
             "system level\nparam m = 2\ncoord x = 1, y = 0\nparticle P mass m at O + x*N.x + y*N.y\nforce on P = 3*N.x + "
             "N.y\nconstraint law: dot(acc(P), N.x + y*N.y) = -4*x\nrun for 1 s\n"},
            // a moving support, a rheonomic row, a spring and a redundant row
            {"rheonomic",
             "system r\nparam m = 1.5, k = 3, l = 0.7, w = 0.4\ncoord x = 1, y = 0.5, s = 0.2\nframe R from N rotate w*t about "
             "z\nparticle P mass m at O + x*R.x + y*R.y\nparticle Q mass 2*m at P + (l + s)*N.z\nspring P Q stiffness k length "
             "l\nstart "
             "x' = 1, y' = 0.5\nconstraint c: x'*y' + s'*cos(t) = y\nconstraint d: 2*x'*y' + 2*s'*cos(t) = 2*y\nrun for 1 s\n"}};
        for (const char* name : {"perpendicular_pucks", "appells_particle", "skate", "planar_body", "double_pendulum",
                                 "rolling_disk", "free_body", "sliding_particle", "simple_pendulum"})
            out[name] = gallery_text(name);
        return out;
    }();
    return all;
}

class PrintedEquations : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

// Both sides of every equation are the same number, or the same vector; names on the left are kept for what follows.
TEST_P(PrintedEquations, HoldAtRandomStates) {
    const auto& [model, formulation] = GetParam();
    const PrintedModel p = print_model(models().at(model), formulation);
    const ConstrainedDynamics& d = *p.derivation.dynamics;
    Kinematics& kin = *d.kinematics;
    std::map<std::string, Vec3> vectors;  // what the names of vectors stand for; the second pass differentiates
    for (const Particle& q : d.model->particles) vectors["vel(" + d.model->point(q.point).name + ")"] = kin.velocity(q.point);
    for (const Body& b : d.model->bodies) {
        vectors["vel(" + d.model->point(b.center).name + ")"] = kin.velocity(b.center);
        vectors["omega(" + b.name + ")"] = kin.omega(b.frame);
    }
    std::size_t checked = 0;
    for (const std::vector<double>& inputs : p.states) {
        Reader reader(d, inputs, p.json);
        for (const Json& section : p.json["sections"]) {
            if (section["title"].get<std::string>().starts_with("Constraint forces"))
                continue;  // in the user's vectors; tested with them
            for (const Json& block : section["blocks"]) {
                if (block["kind"] != "equations") continue;
                for (const Json& e : block["equations"]) {
                    const std::string left = e["left"]["text"], right = e["right"]["text"];
                    SCOPED_TRACE(section["title"].get<std::string>() + ": " + left + " = " + right);
                    ++checked;
                    const std::string kind = left.substr(0, left.find('('));
                    if (kind == "vel" || kind == "omega" || kind == "acc" || kind == "alpha") {
                        const bool rate = kind == "acc" || kind == "alpha";
                        const std::string of = (rate ? kind == "acc" ? "vel" : "omega" : kind) + left.substr(left.find('('));
                        ASSERT_TRUE(vectors.contains(of)) << of;
                        const Vec3& v = vectors.at(of);
                        Eigen::Vector3d expected;
                        if (rate) {
                            expected = reader.rate_of(v);
                        } else {
                            const Vec3 fixed = kin.frames().express(v, Model::newtonian());
                            State<double> grown = reader.state();
                            grown.values.resize(d.graph().symbol_count(), 0.0);
                            for (int i = 0; i < 3; ++i) expected[i] = grown(d.graph(), fixed.c[static_cast<std::size_t>(i)]);
                        }
                        const Eigen::Vector3d found = right == "0" ? Eigen::Vector3d::Zero().eval() : reader.vector(right);
                        EXPECT_LT((found - expected).norm(), k_tolerance * (1 + expected.norm()));
                        continue;
                    }
                    const double value = reader.number(right);
                    ASSERT_TRUE(std::isfinite(value));
                    if (e["defines"].get<bool>()) {
                        if (left == "kinetic") {
                            EXPECT_NEAR(value, reader.state()(d.graph(), d.kinetic_energy), k_tolerance * (1 + value));
                        }
                        reader.set(left, value);
                        continue;
                    }
                    EXPECT_NEAR(reader.number(left), value, k_tolerance * (1 + std::abs(value)) * 10);
                }
            }
        }
        // what the names stand for: Kane's equations with and without the multipliers, and their sums
        for (std::size_t r = 1; r <= d.model->speeds.size(); ++r) {
            const std::string index = std::to_string(r);
            if (reader.knows("F~_" + index)) {
                EXPECT_NEAR(reader.get("F~_" + index) + reader.get("F~*_" + index), 0,
                            10 * k_tolerance * (1 + std::abs(reader.get("F~_" + index))));
            }
            // the members of 001 eq. 40 and the actuators add up to M u'
            if (reader.knows("F_n_" + index)) {
                double sum = 0, size = 1;
                for (const std::string name : {"f_", "F_i_", "F_n_"}) sum += reader.get(name + index);
                if (reader.knows("(G tau)_" + index)) sum += reader.get("(G tau)_" + index);
                for (const SparseEntry& e : d.M().entries)
                    for (const auto& [row, column] : {std::pair(e.row, e.column), std::pair(e.column, e.row)}) {
                        if (row + 1 != r) continue;
                        const double term = reader.state()(d.graph(), e.value) * reader.ud()[column];
                        sum -= e.row == e.column ? term / 2 : term;  // the diagonal comes twice
                        size += std::abs(term);
                    }
                EXPECT_NEAR(sum, 0, 10 * k_tolerance * size) << index;
            }
            if (reader.knows("F*_" + index)) {
                double sum = reader.get("F_" + index) + reader.get("F*_" + index), size = 1;
                for (const SparseEntry& e : d.A.entries)
                    if (e.column + 1 == r && !d.rows[e.row].by_actuators) {
                        const double term =
                            reader.state()(d.graph(), e.value) * reader.get(d.graph().symbol(d.rows[e.row].multiplier).name);
                        sum += term;
                        size += std::abs(term);
                    }
                EXPECT_NEAR(sum, 0, 10 * k_tolerance * size);
            }
        }
    }
    EXPECT_GT(checked, 0u);
}

// The printed equations determine u': solved as they stand, they give what the numeric solve `minimal` gives.
TEST_P(PrintedEquations, DetermineTheRates) {
    const auto& [model, formulation] = GetParam();
    const std::map<std::string, std::set<std::string>> needed{
        {"multipliers", {"Dynamical equations", "Constraints at the acceleration level"}},
        {"minimal", {"The same, ordered by the rates", "Dependent rates"}},
        {"nonminimal", {"The same, written out"}},
        {"gibbs-appell", {"Dynamical equations", "Constraints at the acceleration level"}}};
    if (!needed.contains(formulation)) return;  // explicit: their equations are the rates themselves
    const PrintedModel p = print_model(models().at(model), formulation);
    const ConstrainedDynamics& d = *p.derivation.dynamics;
    std::vector<std::string> unknowns;
    for (const Speed& s : d.model->speeds) unknowns.push_back(d.graph().symbol(s.rate).name);
    const bool multipliers = formulation == "multipliers";
    for (const ConstraintRow& row : d.rows)
        if (multipliers && !row.by_actuators && !d.C_of_reaction) unknowns.push_back(d.graph().symbol(row.multiplier).name);
    for (const SymbolId s : d.actuators) unknowns.push_back(d.graph().symbol(s).name);
    for (const std::vector<double>& inputs : p.states) {
        Reader reader(d, inputs, p.json);
        std::vector<std::pair<std::string, std::string>> equations;
        for (const Json& section : p.json["sections"])
            if (needed.at(formulation).contains(section["title"]) ||
                section["title"] == "Servo-constraints at the acceleration level")
                for (const Json& block : section["blocks"])
                    if (block["kind"] == "equations")
                        for (const Json& e : block["equations"]) equations.emplace_back(e["left"]["text"], e["right"]["text"]);
        // linear in the unknowns: coefficients by putting in zeros and ones
        const auto residuals = [&] {
            Eigen::VectorXd out(static_cast<int>(equations.size()));
            for (std::size_t i = 0; i < equations.size(); ++i)
                out[static_cast<int>(i)] = reader.number(equations[i].first) - reader.number(equations[i].second);
            return out;
        };
        for (const std::string& name : unknowns) reader.set(name, 0);
        const Eigen::VectorXd at_zero = residuals();
        Eigen::MatrixXd system(static_cast<int>(equations.size()), static_cast<int>(unknowns.size()));
        for (std::size_t j = 0; j < unknowns.size(); ++j) {
            reader.set(unknowns[j], 1);
            system.col(static_cast<int>(j)) = residuals() - at_zero;
            reader.set(unknowns[j], 0);
        }
        ASSERT_GE(system.rows(), static_cast<int>(d.model->speeds.size()));
        const Eigen::VectorXd solution = system.completeOrthogonalDecomposition().solve(-at_zero);
        EXPECT_LT((system * solution + at_zero).norm(), 1e-8 * (1 + at_zero.norm()));
        double size = 1;
        for (const double x : reader.ud()) size = std::max(size, std::abs(x));
        for (std::size_t i = 0; i < reader.ud().size(); ++i)
            EXPECT_NEAR(solution[static_cast<int>(i)], reader.ud()[i], 1e-7 * size) << unknowns[i];
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, PrintedEquations,
    ::testing::Combine(::testing::Values("perpendicular_pucks", "full_pucks", "appells_particle", "skate", "planar_body",
                                         "double_pendulum", "rolling_disk", "free_body", "sliding_particle", "simple_pendulum",
                                         "appell_hamel", "perpendicular_bodies", "rheonomic", "incline", "bead", "level"),
                       ::testing::Values("multipliers", "minimal", "nonminimal", "udwadia-kalaba", "ukp", "gibbs-appell")),
    [](const auto& at) {
        std::string name = std::get<0>(at.param) + "_" + std::get<1>(at.param);
        std::replace(name.begin(), name.end(), '-', '_');
        return name;
    });

// Partial velocities are the derivatives of the printed velocities by the speeds, partial accelerations those of the printed
// accelerations by the independent rates.
TEST(PrintedTables, AreTheCoefficientsOfTheVectors) {
    for (const char* model :
         {"full_pucks", "appells_particle", "skate", "rolling_disk", "appell_hamel", "perpendicular_bodies", "rheonomic"}) {
        const PrintedModel p = print_model(models().at(model), "minimal");
        for (const auto& [tables, vectors] :
             {std::pair{"artial velocities", "elocities"}, {"partial accelerations", "ccelerations"}}) {
            const Json *table = nullptr, *list = nullptr;
            for (const Json& section : p.json["sections"]) {
                const std::string title = section["title"];
                if (title.find(tables) != std::string::npos) table = &section["blocks"][1];
                if (title.find(vectors) == 1) list = &section["blocks"][0];
            }
            ASSERT_TRUE(table && list) << model;
            std::size_t cells = 0;
            for (const std::vector<double>& inputs : p.states) {
                Reader reader(*p.derivation.dynamics, inputs, p.json);
                for (std::size_t column = 1; column < (*table)["header"].size(); ++column) {
                    std::string name = (*table)["header"][column]["text"];
                    std::erase(name, '~');
                    std::string vector;
                    for (const Json& e : (*list)["equations"])
                        if (e["left"]["text"] == name) vector = e["right"]["text"];
                    ASSERT_FALSE(vector.empty()) << name;
                    for (const Json& row : (*table)["rows"]) {
                        const std::string variable = row[0]["text"], cell = row[column]["text"];
                        const double value = reader.get(variable);
                        const Eigen::Vector3d here = reader.vector(vector);
                        reader.set(variable, value + 1);
                        const Eigen::Vector3d there = reader.vector(vector);
                        reader.set(variable, value);
                        const Eigen::Vector3d expected = cell == "0" ? Eigen::Vector3d::Zero().eval() : reader.vector(cell);
                        EXPECT_LT((there - here - expected).norm(), 1e-12 * (10 + here.norm() + there.norm()))
                            << model << " " << name << " " << variable;
                        ++cells;
                    }
                }
            }
            EXPECT_GT(cells, 0u);
        }
    }
}

// 003 eqs. 16-50
TEST(PrintedMatrices, OfTheNonminimalForm) {
    for (const char* model : {"full_pucks", "skate", "rolling_disk", "appell_hamel", "sliding_particle", "rheonomic"}) {
        const PrintedModel p = print_model(models().at(model), "nonminimal");
        const ConstrainedDynamics& d = *p.derivation.dynamics;
        for (const std::vector<double>& inputs : p.states) {
            Reader reader(d, inputs, p.json);
            const auto matrix = [&](const char* title, const char* name) {
                const Json* found = find_matrix(p.json, title, name);
                EXPECT_NE(found, nullptr) << title << " " << name;
                return found ? reader.matrix(*found) : Eigen::MatrixXd();
            };
            const auto J1 = matrix("Rows, partitioned", "J1"), J2 = matrix("Rows, partitioned", "J2");
            const auto A = matrix("Rows, partitioned", "A"), B = matrix("Rows, partitioned", "B");
            const auto Q = matrix("Unconstrained equations", "Q"), P = matrix("Unconstrained equations", "P");
            const auto A1 = matrix("Nonminimal equations", "A1"), A2 = matrix("Nonminimal equations", "A2");
            const auto T = matrix("Nonminimal equations", "T"), V = matrix("Nonminimal equations", "V");
            const double size = 1 + T.norm() * J1.norm() + V.norm() + P.norm() * A2.norm();
            EXPECT_LT((J2 * A + J1).norm(), k_tolerance * size);
            EXPECT_LT((A1 * A2.transpose()).norm(), k_tolerance * size);  // row spaces are orthogonal complements
            Eigen::MatrixXd T_expected(T.rows(), T.cols()), V_expected(V.rows(), 1);
            T_expected << A1, A2 * Q;
            V_expected << B, A2 * P;
            EXPECT_LT((T - T_expected).norm(), k_tolerance * size);
            EXPECT_LT((V - V_expected).norm(), k_tolerance * size);
            // the order of the speeds stands in the sentence above Q
            const std::string sentence = (*find_section(p.json, "Unconstrained equations"))["blocks"][0]["text"];
            std::vector<std::pair<std::size_t, std::size_t>> order;  // place in the sentence, speed
            const std::string list = sentence.substr(sentence.find("in the order ") + 13);
            for (std::size_t i = 0; i < d.model->speeds.size(); ++i) {
                const std::size_t at = (", " + list).find(", " + d.model->speeds[i].name + ",");
                ASSERT_NE(at, std::string::npos) << sentence;
                order.emplace_back(at, i);
            }
            std::sort(order.begin(), order.end());
            Eigen::VectorXd ud(T.cols());
            for (std::size_t i = 0; i < order.size(); ++i) ud[static_cast<int>(i)] = reader.ud()[order[i].second];
            EXPECT_LT((T * ud - V).norm(), 1e-8 * size);
        }
    }
}

// 001 eqs. 7, 12, 21, 40, 41, 49
TEST(PrintedMatrices, OfTheExplicitForms) {
    for (const char* model : {"full_pucks", "appells_particle", "skate", "sliding_particle"})
        for (const char* formulation : {"udwadia-kalaba", "ukp"}) {
            const PrintedModel p = print_model(models().at(model), formulation);
            const ConstrainedDynamics& d = *p.derivation.dynamics;
            for (const std::vector<double>& inputs : p.states) {
                Reader reader(d, inputs, p.json);
                const auto matrix = [&](const char* title, const char* name) {
                    const Json* found = find_matrix(p.json, title, name);
                    EXPECT_NE(found, nullptr) << title << " " << name;
                    return found ? reader.matrix(*found) : Eigen::MatrixXd();
                };
                const Eigen::MatrixXd M = matrix("Unconstrained system", "M"), F = matrix("Unconstrained system", "F"),
                                      a = matrix("Unconstrained system", "a"),
                                      A = matrix("Constraints at the acceleration level", "A"),
                                      b = matrix("Constraints at the acceleration level", "b"),
                                      B = matrix("Equations of motion", "B");
                const Eigen::MatrixXd root = M.diagonal().cwiseSqrt().asDiagonal();
                EXPECT_LT((M * a - F).norm(), k_tolerance * (1 + F.norm()));
                EXPECT_LT((B * root - A).norm(), k_tolerance * (1 + A.norm()));
                const Eigen::MatrixXd inverse = B.completeOrthogonalDecomposition().pseudoInverse();
                Eigen::VectorXd ud = a + root.inverse() * inverse * (b - A * a);  // eq. 49
                for (std::size_t i = 0; i < reader.ud().size(); ++i)
                    EXPECT_NEAR(ud[static_cast<int>(i)], reader.ud()[i], 1e-8 * (1 + ud.norm())) << model;
                const Eigen::MatrixXd Fc = matrix("The same, written out", "F^c");
                EXPECT_LT((Fc - root * inverse * (b - A * a)).norm(), 1e-8 * (1 + Fc.norm()));
                if (std::string(formulation) != "ukp") continue;
                const Eigen::MatrixXd V = matrix("Equations of motion", "V"), J_inverse = matrix("Equations of motion", "J^-1");
                EXPECT_LT((B * V).norm(), k_tolerance * (1 + B.norm() * V.norm()));  // eq. 12
                EXPECT_LT((J_inverse - B.transpose() * B - V * V.transpose()).norm(),
                          k_tolerance * (1 + J_inverse.norm()));                                                 // eq. 21
                EXPECT_LT((J_inverse.inverse() * B.transpose() - inverse).norm(), 1e-8 * (1 + inverse.norm()));  // eq. 41
            }
        }
}

// 000 eqs. 34, 41, 43-49 for the pucks with all four forces
TEST(PrintedPaper, PerpendicularPucks) {
    const PrintedModel p = print_model(k_full_pucks, "minimal"), q = print_model(k_full_pucks, "multipliers");
    const Json* table = &(*find_section(p.json, "Nonholonomic partial accelerations"))["blocks"][1];
    // the words themselves, where the paper's are as short
    EXPECT_EQ((*table)["rows"][0][2]["text"], "-u3*N.y/u2");
    EXPECT_EQ((*table)["rows"][1][2]["text"], "-u4*N.y/u2");
    EXPECT_EQ((*table)["rows"][2][2]["text"], "N.x - u1*N.y/u2");
    for (const std::vector<double>& inputs : p.states) {
        Reader r(*p.derivation.dynamics, inputs, p.json);
        const auto v = [&](const char* name) { return r.get(name); };
        const double u1 = v("u1"), u2 = v("u2"), u3 = v("u3"), u4 = v("u4"), m1 = v("m1"), m2 = v("m2");
        const double paper_active[] = {v("s1") - u3 / u2 * v("s4"), v("s2") - u4 / u2 * v("s4"), v("s3") - u1 / u2 * v("s4")};
        const double d1 = v("u1'"), d2 = v("u2'"), d3 = v("u3'");
        const double paper_inertia[] = {
            -(m1 + m2 * std::pow(u3 / u2, 2)) * d1 - m2 * u3 * u4 / (u2 * u2) * d2 - m2 * u1 * u3 / (u2 * u2) * d3,
            -m2 * u3 * u4 / (u2 * u2) * d1 - (m1 + m2 * std::pow(u4 / u2, 2)) * d2 - m2 * u1 * u4 / (u2 * u2) * d3,
            -m2 * u1 * u3 / (u2 * u2) * d1 - m2 * u1 * u4 / (u2 * u2) * d2 - m2 * (1 + std::pow(u1 / u2, 2)) * d3};
        const Json& active = (*find_section(p.json, "Generalized active forces"))["blocks"][0]["equations"];
        const Json& inertia = (*find_section(p.json, "Generalized inertia forces"))["blocks"][0]["equations"];
        ASSERT_EQ(active.size(), 3u);
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_EQ(active[i]["left"]["text"], "F~_" + std::to_string(i + 1));
            EXPECT_NEAR(r.number(active[i]["right"]["text"]), paper_active[i], 1e-12 * (1 + std::abs(paper_active[i])));
            EXPECT_NEAR(r.number(inertia[i]["right"]["text"]), paper_inertia[i], 1e-12 * (10 + std::abs(paper_inertia[i])));
        }
        Reader s(*q.derivation.dynamics, inputs, q.json);
        const Json& lambda = (*find_section(q.json, "Multipliers"))["blocks"][0]["equations"][0]["right"]["text"];
        EXPECT_NEAR(s.number(lambda),
                    -(m1 * (v("s3") * u1 + v("s4") * u2) + m2 * (v("s1") * u3 + v("s2") * u4)) /
                        (m1 * (u1 * u1 + u2 * u2) + m2 * (u3 * u3 + u4 * u4)),
                    1e-12);
    }
}

// 000 eqs. 65-69; eqs. 66 and 67 are what the two printed equations give when solved
TEST(PrintedPaper, AppellsParticle) {
    const PrintedModel p = print_model(gallery_text("appells_particle"), "minimal");
    const Json* table = &(*find_section(p.json, "Nonholonomic partial accelerations"))["blocks"][1];
    EXPECT_EQ((*table)["rows"][0][1]["text"], "N.x + a*u1*N.z/sqrt(u1^2 + u2^2)");
    EXPECT_EQ((*table)["rows"][1][1]["text"], "N.y + a*u2*N.z/sqrt(u1^2 + u2^2)");
    for (const std::vector<double>& inputs : p.states) {
        Reader r(*p.derivation.dynamics, inputs, p.json);
        const double u1 = r.get("u1"), u2 = r.get("u2"), a = r.get("a"), g = r.get("g"), w = std::hypot(u1, u2);
        r.set("u1'", -g * a * u1 / ((1 + a * a) * w));
        r.set("u2'", -g * a * u2 / ((1 + a * a) * w));
        for (const Json& e : (*find_section(p.json, "Dynamical equations"))["blocks"][0]["equations"])
            EXPECT_NEAR(r.number(e["left"]["text"]), 0, 1e-12 * (1 + g));
    }
}

// 003 eqs. 71-76: A and B of the Appell-Hamel mechanism, with the source's choice of independent speeds
TEST(PrintedPaper, AppellHamel) {
    PrintedModel p = print_model(k_appell_hamel, "nonminimal");
    EquationOptions options;
    options.formulation = Formulation::nonminimal;
    options.format = EquationFormat::json;
    options.dependent = {2, 3, 4};
    p.json = Json::parse(equations(*p.derivation.dynamics, options));
    EXPECT_NE((*find_section(p.json, "Independent and dependent speeds"))["blocks"][0]["text"].get<std::string>().find(
                  "Independent: u1, u2; dependent: u3, u4, u5."),
              std::string::npos);
    for (const std::vector<double>& inputs : p.states) {
        Reader r(*p.derivation.dynamics, inputs, p.json);
        const double u1 = r.get("u1"), u2 = r.get("u2"), u3 = r.get("u3"), u4 = r.get("u4"), rho = r.get("rho"), a = r.get("a");
        const double s = std::sin(r.get("theta")), c = std::cos(r.get("theta")), b = r.get("b");
        const double n1 = rho * rho * u1 + rho * u3 * s - rho * u4 * c, n2 = -a * a * u2, n3 = u3 + rho * u1 * s,
                     n4 = u4 - rho * u1 * c;
        const double n5 = n3 * c + n4 * s, n6 = u3 * c + u4 * s;
        Eigen::MatrixXd A(3, 2), B(3, 1);
        A << (-rho * n4 - n1 * c) / n5, -n2 * c / n5, (rho * n3 - n1 * s) / n5, -n2 * s / n5, 0, -b;
        B << -u1 * (n4 + rho * u1 * c) * n6 / n5, u1 * (n3 - rho * u1 * s) * n6 / n5, 0;
        const Eigen::MatrixXd A_printed = r.matrix(*find_matrix(p.json, "Rows, partitioned", "A"));
        const Eigen::MatrixXd B_printed = r.matrix(*find_matrix(p.json, "Rows, partitioned", "B"));
        EXPECT_LT((A_printed - A).norm(), 1e-10 * (1 + A.norm()));
        EXPECT_LT((B_printed - B).norm(), 1e-10 * (1 + B.norm())) << B_printed << "\n" << B;
    }
}

}  // namespace
}  // namespace appell
