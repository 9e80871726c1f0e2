// Forward-backward on chains and its derivative: the twin of treebp/kernels/chain.py. A block has a chain, a thread some
// of the states.
#include "logs.cuh"

struct Chain {
    const double *incoming, *transitions;
    int begin, end, states;
    __device__ double said(int i, int state) const {  // a log-probability
        if (states != 2) return incoming[(Int)i * states + state];
        return state == 1 ? log_on(incoming[i]) : log_off(incoming[i]);
    }
    __device__ Int transition(int chain, int i, int from, int to) const {  // from position i to the next one
        return ((Int)(i - chain) * states + from) * states + to;
    }
};

extern "C" __global__ void send_chains(
    const int* first, const double* incoming, const double* transitions, Int states_, double* before, double* after,
    double* out
) {
    int c = blockIdx.x, states = (int)states_;
    Chain chain{incoming, transitions, first[c], first[c + 1], states};
    FOR_THREADS(state, states) {
        before[(Int)chain.begin * states + state] = 0.0;
        after[(Int)(chain.end - 1) * states + state] = 0.0;
    }
    __syncthreads();
    for (int i = chain.begin + 1; i < chain.end; i++) {
        FOR_THREADS(state, states) {
            Log::Sum sum = Log::empty();
            for (int from = 0; from < states; from++)
                Log::add(sum, before[(Int)(i - 1) * states + from] + chain.said(i - 1, from) +
                    transitions[chain.transition(c, i - 1, from, state)]);
            before[(Int)i * states + state] = Log::finish(sum);
        }
        __syncthreads();
    }
    for (int i = chain.end - 2; i >= chain.begin; i--) {
        FOR_THREADS(state, states) {
            Log::Sum sum = Log::empty();
            for (int to = 0; to < states; to++)
                Log::add(sum, after[(Int)(i + 1) * states + to] + chain.said(i + 1, to) +
                    transitions[chain.transition(c, i, state, to)]);
            after[(Int)i * states + state] = Log::finish(sum);
        }
        __syncthreads();
    }
    for (int i = chain.begin + threadIdx.x; i < chain.end; i += blockDim.x) {
        const double *one = before + (Int)i * states, *two = after + (Int)i * states;
        if (states == 2)
            out[i] = (one[1] + two[1]) - (one[0] + two[0]);
        else
            for (int state = 0; state < states; state++) out[(Int)i * states + state] = one[state] + two[state];
    }
}

// Adjoints of what was received and of transitions (added to). `rows` has those of before + after, (positions, states),
// and is overwritten; `other` is a copy of it.
extern "C" __global__ void send_chains_backward(
    const int* first, const double* incoming, const double* transitions, Int states_, const double* before,
    const double* after, double* rows, double* other, double* received, double* out, double* of_transitions
) {
    int c = blockIdx.x, states = (int)states_;
    Chain chain{incoming, transitions, first[c], first[c + 1], states};
    for (int i = chain.begin; i < chain.end; i++)
        FOR_THREADS(state, states) received[(Int)i * states + state] = 0.0;
    __syncthreads();
    for (int i = chain.end - 1; i > chain.begin; i--) {
        FOR_THREADS(from, states) {
            double sum = 0.0;
            for (int state = 0; state < states; state++) {
                double total = before[(Int)i * states + state];
                if (total == -infinity()) continue;
                Int place = chain.transition(c, i - 1, from, state);
                double term = before[(Int)(i - 1) * states + from] + chain.said(i - 1, from) + transitions[place];
                double part = rows[(Int)i * states + state] * exp(term - total);
                of_transitions[place] += part;
                sum += part;
            }
            rows[(Int)(i - 1) * states + from] += sum;
            received[(Int)(i - 1) * states + from] += sum;
        }
        __syncthreads();
    }
    for (int i = chain.begin; i < chain.end - 1; i++) {
        FOR_THREADS(to, states) {
            double sum = 0.0;
            for (int state = 0; state < states; state++) {
                double total = after[(Int)i * states + state];
                if (total == -infinity()) continue;
                Int place = chain.transition(c, i, state, to);
                double term = after[(Int)(i + 1) * states + to] + chain.said(i + 1, to) + transitions[place];
                double part = other[(Int)i * states + state] * exp(term - total);
                of_transitions[place] += part;
                sum += part;
            }
            other[(Int)(i + 1) * states + to] += sum;
            received[(Int)(i + 1) * states + to] += sum;
        }
        __syncthreads();
    }
    for (int i = chain.begin + threadIdx.x; out && i < chain.end; i += blockDim.x) {
        if (states == 2) {
            double odds = incoming[i];
            out[i] = is_finite(odds) ? received[2 * (Int)i + 1] * sigmoid(-odds) - received[2 * (Int)i] * sigmoid(odds) : 0.0;
        } else
            for (int state = 0; state < states; state++) out[(Int)i * states + state] = received[(Int)i * states + state];
    }
}

// From the adjoints of messages to those of before + after; what is infinite has none.
extern "C" __global__ void chain_rows(
    const double* adjoint, const double* before, const double* after, Int states, Int positions, double* rows, double* other
) {
    FOR_ALL_THREADS(k, positions * states) {
        Int i = k / states;
        double own;
        if (states == 2) {
            double odds = (before[2 * i + 1] + after[2 * i + 1]) - (before[2 * i] + after[2 * i]);
            own = !is_finite(odds) ? 0.0 : k % 2 ? adjoint[i] : -adjoint[i];
        } else
            own = before[k] + after[k] > -infinity() ? adjoint[k] : 0.0;
        rows[k] = other[k] = own;
    }
}

// The log-partition of each chain, and its derivatives by before + after: the belief about the first variable.
extern "C" __global__ void chain_partitions(
    const int* first, Int chains, const double* incoming, Int states_, const double* after, double* log_partitions,
    double* rows, double* other
) {
    FOR_ALL_THREADS(c, chains) {
        int states = (int)states_;
        Chain chain{incoming, nullptr, first[c], first[c + 1], states};
        Log::Sum sum = Log::empty();
        for (int state = 0; state < states; state++)
            Log::add(sum, after[(Int)chain.begin * states + state] + chain.said(chain.begin, state));
        log_partitions[c] = Log::finish(sum);
        for (int i = chain.begin; i < chain.end; i++)
            for (int state = 0; state < states; state++) {
                double own = 0.0;
                if (i == chain.begin)
                    own = exp(after[(Int)i * states + state] + chain.said(i, state) - log_partitions[c]);
                rows[(Int)i * states + state] = other[(Int)i * states + state] = own;
            }
    }
}
