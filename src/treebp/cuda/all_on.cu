// Factors that weigh the joint state in which all their variables are ON: the twin of those in treebp/kernels/ratios.py.
//
// In logarithms, so that no weight is too large. Rows of messages are the first, second and third variables.
#include "logs.cuh"

// log(1 - P + e^s P), P being the probability that the other variables are ON.
__device__ inline double message(double s, double b) { return log_add(log_off(b), s + log_on(b)); }
__device__ inline double message(double s, double b, double c) {
    return log_add(log_off(b), log_on(b) + message(s, c));
}

// How much a message to one variable changes with what another one said: its posterior less its prior, being ON.
__device__ inline double moved(double on_weight, double total, double odds) { return exp(on_weight - total) - sigmoid(odds); }

extern "C" __global__ void send_all_on(const double* potentials, const double* incoming, Int arity, Int count, double* out) {
    FOR_ALL_THREADS(f, count) {
        double s = potentials[f];
        if (arity == 1) {
            out[f] = s;
            continue;
        }
        double a = incoming[f], b = incoming[count + f];
        if (arity == 2) {
            out[f] = message(s, b);
            out[count + f] = message(s, a);
        } else {
            double c = incoming[2 * count + f];
            out[f] = message(s, b, c);
            out[count + f] = message(s, a, c);
            out[2 * count + f] = message(s, a, b);
        }
    }
}

// Write the adjoints of the messages received, and add those of the log-potentials.
extern "C" __global__ void send_all_on_backward(
    const double* potentials, const double* incoming, const double* adjoint, Int arity, Int count, double* out,
    double* of_potentials
) {
    FOR_ALL_THREADS(f, count) {
        double s = potentials[f];
        if (arity == 1) {
            of_potentials[f] += adjoint[f];
            continue;
        }
        double a = incoming[f], b = incoming[count + f], to_a = adjoint[f], to_b = adjoint[count + f];
        if (arity == 2) {
            double with_a = exp(s + log_on(a) - message(s, a)), with_b = exp(s + log_on(b) - message(s, b));
            of_potentials[f] += to_a * with_b + to_b * with_a;
            out[f] = to_b * (with_a - sigmoid(a));
            out[count + f] = to_a * (with_b - sigmoid(b));
        } else {
            double c = incoming[2 * count + f], to_c = adjoint[2 * count + f];
            double at_a = message(s, b, c), at_b = message(s, a, c), at_c = message(s, a, b);
            double on_a = log_on(a), on_b = log_on(b), on_c = log_on(c);
            double by_a = message(s, a), by_b = message(s, b), by_c = message(s, c);
            of_potentials[f] += to_a * exp(s + on_b + on_c - at_a) + to_b * exp(s + on_a + on_c - at_b) +
                to_c * exp(s + on_a + on_b - at_c);
            out[f] = to_b * moved(on_a + by_c, at_b, a) + to_c * moved(on_a + by_b, at_c, a);
            out[count + f] = to_a * moved(on_b + by_c, at_a, b) + to_c * moved(on_b + by_a, at_c, b);
            out[2 * count + f] = to_a * moved(on_c + by_b, at_a, c) + to_b * moved(on_c + by_a, at_b, c);
        }
    }
}

// Each factor's belief that all its variables are ON, and its log-partition.
extern "C" __global__ void sum_all_on(
    const double* potentials, const double* incoming, Int arity, Int count, double* beliefs, double* log_partitions
) {
    FOR_ALL_THREADS(f, count) {
        double on = potentials[f], total = 0.0;
        for (Int k = arity - 1; k >= 0; k--) {
            double odds = incoming[k * count + f];
            on += log_on(odds);
            total = log_add(log_off(odds), log_on(odds) + (k == arity - 1 ? potentials[f] : total));
        }
        beliefs[f] = exp(on - total);
        log_partitions[f] = total;
    }
}
