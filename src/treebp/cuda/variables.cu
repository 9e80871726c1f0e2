// What variables do in belief propagation: the twin of treebp/kernels/variables.py, all in logarithms.
//
// Entries of messages speak of slots. Those of one group that speak of slot s are slot_entries[first[s] : first[s + 1]],
// or entry s alone where `first` is null. Contradictions are told by the smallest key, of step and edge, that has one.
#include "logs.cuh"

typedef unsigned long long Bits;

__device__ inline void report(double change, bool contradiction, Bits* residual, Int* status, Int key) {
    if (contradiction) atomicMin(status, key);
    if (!residual) return;
    change = change == change ? change : 0.0;
    for (int offset = 16; offset > 0; offset /= 2) change = fmax(change, shuffle(change, offset));
    if (threadIdx.x % 32 == 0 && change > 0.0) {
        Bits bits;
        *(double*)&bits = change;  // the bits of positive numbers are in the order of the numbers
        atomicMax(residual, bits);
    }
}

// Normalise an edge's new message, mix it with the old one, and measure the change.
__device__ inline double mix(double* message, const double* old, int states, double damping, bool* contradiction) {
    if (states == 2) {
        *contradiction = message[0] != message[0];
        if (damping > 0.0) message[0] = (1.0 - damping) * message[0] + damping * old[0];
        return fabs(sigmoid(message[0]) - sigmoid(old[0]));
    }
    double change = 0.0;
    for (int round = 0; round < (damping > 0.0 ? 2 : 1); round++) {
        Log::Sum sum = Log::empty();
        for (int state = 0; state < states; state++) Log::add(sum, message[state]);
        double total = Log::finish(sum);
        *contradiction = *contradiction || !(total > -infinity());
        for (int state = 0; state < states; state++) {
            message[state] -= total;
            if (round == 0 && damping > 0.0) message[state] = (1.0 - damping) * message[state] + damping * old[state];
        }
    }
    for (int state = 0; state < states; state++) change = fmax(change, fabs(exp(message[state]) - exp(old[state])));
    return change;
}

extern "C" __global__ void deliver(
    double* messages, const double* old, const int* states, const int* first_entry, Int count, Int damping,
    Bits* residual, Int* status, Int step
) {
    Int rounds = (count + (Int)gridDim.x * blockDim.x - 1) / ((Int)gridDim.x * blockDim.x);
    for (Int round = 0; round < rounds; round++) {
        Int edge = (round * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        double change = 0.0;
        bool contradiction = false;
        if (edge < count) {
            Int entry = states ? first_entry[edge] : edge;
            change = mix(
                messages + entry, old + entry, states ? states[edge] : 2, __longlong_as_double(damping), &contradiction
            );
        }
        report(change, contradiction, residual, status, step + edge);
    }
}

// The sum of all log-messages of a group that speak of each slot.
extern "C" __global__ void gather(const double* messages, const int* first, const int* slot_entries, Int slots, double* out) {
    FOR_ALL_THREADS(slot, slots) {
        double total = 0.0;
#pragma unroll 4
        for (int k = first[slot]; k < first[slot + 1]; k++) total += messages[slot_entries[k]];
        out[slot] = total;
    }
}

// Messages to a group: all that was gathered at each slot, but for what the factor said itself.
extern "C" __global__ void to_factors(
    const double* gathered, Int groups, Int group, Int slots, const int* slot_of_entry, const int* first,
    const int* slot_entries, const double* said, const double* old, double* out, const int* states,
    const int* first_entry, Int count, Int damping, Bits* residual, Int* status, Int step
) {
    const double large = 1e3;  // is not subtracted from a sum that has it
    Int rounds = (count + (Int)gridDim.x * blockDim.x - 1) / ((Int)gridDim.x * blockDim.x);
    for (Int round = 0; round < rounds; round++) {
        Int edge = (round * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        double change = 0.0;
        bool contradiction = false;
        if (edge < count) {
            Int begin = states ? first_entry[edge] : edge;
            int width = states && states[edge] != 2 ? states[edge] : 1;
            for (Int entry = begin; entry < begin + width; entry++) {
                int slot = slot_of_entry[entry];
                double total = 0.0;
                for (Int other = 0; other < groups; other++)
                    if (other != group) total += gathered[other * slots + slot];
                if (first) {
                    double own = said[entry], rest = gathered[group * slots + slot];
                    if (fabs(own) < large)
                        rest -= own;
                    else {
                        rest = 0.0;
                        for (int k = first[slot]; k < first[slot + 1]; k++)
                            if (slot_entries[k] != entry) rest += said[slot_entries[k]];
                    }
                    total += rest;
                }
                out[entry] = total;
            }
            change = mix(out + begin, old + begin, states ? states[edge] : 2, __longlong_as_double(damping), &contradiction);
        }
        report(change, contradiction, residual, status, step + edge);
    }
}

// Beliefs of all variables from all log-messages to them; `totals` is their sum at each slot.
extern "C" __global__ void beliefs(
    const double* gathered, Int groups, Int slots, const int* states, const int* first_slot, Int variables,
    double* totals, double* out, Int* status, Int step
) {
    FOR_ALL_THREADS(variable, variables) {
        Int begin = states ? first_slot[variable] : variable;
        int count = states ? states[variable] : 2, width = count == 2 ? 1 : count;
        Log::Sum sum = Log::empty();
        for (Int slot = begin; slot < begin + width; slot++) {
            double total = 0.0;
            for (Int group = 0; group < groups; group++) total += gathered[group * slots + slot];
            totals[slot] = total;
            Log::add(sum, total);
        }
        double all = Log::finish(sum);
        for (Int slot = begin; slot < begin + width; slot++)
            out[slot] = count == 2 ? (totals[slot] == totals[slot] ? sigmoid(totals[slot]) : not_a_number()) : exp(totals[slot] - all);
        if (out[begin] != out[begin]) atomicMin(status, step + variable);
    }
}

// From the adjoints of beliefs to those of the totals.
extern "C" __global__ void beliefs_backward(
    const double* beliefs, const double* totals, const double* adjoint, const int* states, const int* first_slot,
    Int variables, double* out
) {
    FOR_ALL_THREADS(variable, variables) {
        Int begin = states ? first_slot[variable] : variable;
        int count = states ? states[variable] : 2, width = count == 2 ? 1 : count;
        double expected = 0.0;
        for (Int slot = begin; slot < begin + width; slot++) expected += beliefs[slot] * adjoint[slot];
        for (Int slot = begin; slot < begin + width; slot++)
            out[slot] = beliefs[slot] * (count == 2 ? adjoint[slot] * sigmoid(-totals[slot]) : adjoint[slot] - expected);
    }
}

// Add up the adjoints of messages to factors at each slot.
extern "C" __global__ void gather_adjoints(
    const double* adjoint, const int* first, const int* slot_entries, Int slots, double* totals
) {
    FOR_ALL_THREADS(slot, slots) {
        double total = 0.0;
        if (!first) total = adjoint[slot];
#pragma unroll 4
        for (int k = first ? first[slot] : 0; k < (first ? first[slot + 1] : 0); k++) total += adjoint[slot_entries[k]];
        totals[slot] += total;
    }
}

// Add to the adjoints of messages to variables: each was part of all that its slot sent but for the entry's own.
extern "C" __global__ void spread_adjoints(
    const double* totals, const int* slot_of_entry, const double* own, Int entries, Int fresh, double* adjoint
) {
    FOR_ALL_THREADS(entry, entries) {
        double sum = totals[slot_of_entry[entry]] - (own ? own[entry] : 0.0);
        adjoint[entry] = fresh ? sum : adjoint[entry] + sum;
    }
}

// scale * old + term: what damping leaves, or a sum; both may be null.
extern "C" __global__ void combine(const double* one, Int scale, const double* two, Int entries, double* out) {
    FOR_ALL_THREADS(entry, entries)
        out[entry] = __longlong_as_double(scale) * one[entry] + (two ? two[entry] : 0.0);
}

// Zero where the log-potential is -inf: it has no derivative.
extern "C" __global__ void mask_forbidden(const double* potentials, Int count, double* adjoint) {
    FOR_ALL_THREADS(k, count) if (potentials[k] == -infinity()) adjoint[k] = 0.0;
}

// The logarithm of the probability that both messages of each edge agree: a part of Bethe's log-partition.
extern "C" __global__ void agreements(
    const double* incoming, const double* outgoing, const int* states, const int* first_entry, Int count, double* out
) {
    FOR_ALL_THREADS(edge, count) {
        Int entry = states ? first_entry[edge] : edge;
        int width = states ? states[edge] : 2;
        if (width == 2)
            out[edge] = log_add(
                log_off(incoming[entry]) + log_off(outgoing[entry]), log_on(incoming[entry]) + log_on(outgoing[entry])
            );
        else {
            Log::Sum sum = Log::empty();
            for (int k = 0; k < width; k++) Log::add(sum, incoming[entry + k] + outgoing[entry + k]);
            out[edge] = Log::finish(sum);
        }
    }
}

// Add a group's messages to the variables, as log-probabilities of OFF and ON, or of each state.
extern "C" __global__ void add_log_probabilities(
    const double* messages, const int* first, const int* slot_entries, const int* states_of_slot, Int slots,
    double* off, double* on
) {
    FOR_ALL_THREADS(slot, slots) {
        bool binary = !states_of_slot || states_of_slot[slot] == 2;
        for (int k = first ? first[slot] : (int)slot; k < (first ? first[slot + 1] : (int)slot + 1); k++) {
            double message = messages[first ? slot_entries[k] : k];
            if (binary) off[slot] += log_off(message);
            on[slot] += binary ? log_on(message) : message;
        }
    }
}

// The log-partition of each variable.
extern "C" __global__ void variable_partitions(
    const double* off, const double* on, const int* states, const int* first_slot, Int variables, double* out
) {
    FOR_ALL_THREADS(variable, variables) {
        Int begin = states ? first_slot[variable] : variable;
        int count = states ? states[variable] : 2;
        Log::Sum sum = Log::empty();
        if (count == 2) Log::add(sum, off[begin]);
        for (int k = 0; k < (count == 2 ? 1 : count); k++) Log::add(sum, on[begin + k]);
        out[variable] = Log::finish(sum);
    }
}

// Of each tree: the sum of log(1 + odds) of its arcs, certain ones aside.
extern "C" __global__ void total_softplus(const double* log_odds, const int* first, Int trees, double* out) {
    FOR_ALL_THREADS(t, trees) {
        double total = 0.0;
        for (int a = first[t]; a < first[t + 1]; a++) total += log_odds[a] < infinity() ? softplus(log_odds[a]) : 0.0;
        out[t] = total;
    }
}
