#include "dynam/baumgarte.hpp"

namespace appell {

ConstrainedDynamics damped(ConstrainedDynamics d, const BaumgarteGains& gains) {
    Graph& g = d.graph();
    for (std::size_t i = 0; i < d.rows.size(); ++i) {
        const ConstraintRow& row = d.rows[i];
        switch (row.level) {
            case Level::position:
                d.b[i] = g.add(d.b[i], g.add(g.mul(gains.of_rate, row.velocity), g.mul(gains.of_position, row.position)));
                break;
            case Level::velocity: d.b[i] = g.add(d.b[i], g.mul(gains.of_velocity, row.velocity)); break;
            case Level::acceleration: break;  // nothing of it can be off but the acceleration
        }
    }
    return d;
}

}  // namespace appell
