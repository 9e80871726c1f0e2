// Factors that list a log-potential for each joint state: the twin of treebp/kernels/tables.py.
//
// Tables of a group have one shape. Of each axis, `axes` has the states, how many entries two neighbouring states are
// apart, and where the axis's messages begin; those of a table are as many as states, or one if they are two.
#include "logs.cuh"

struct Axes {
    const int* rows;
    int arity, entries;
    __device__ int states(int axis) const { return rows[3 * axis]; }
    __device__ int stride(int axis) const { return rows[3 * axis + 1]; }
    __device__ Int place(int axis, Int table) const {
        return rows[3 * axis + 2] + table * (states(axis) == 2 ? 1 : states(axis));
    }
    __device__ int state(int axis, int entry) const { return entry / stride(axis) % states(axis); }
    // A table's entry times the messages of all axes but one.
    __device__ double term(const double* potentials, const double* incoming, Int table, int entry, int without) const {
        double total = potentials[table * entries + entry];
        for (int axis = 0; axis < arity; axis++)
            if (axis != without)
                total += weight_of_state(incoming + place(axis, table), states(axis), state(axis, entry));
        return total;
    }
    // The log of the sum over all entries that agree with a state of an axis.
    __device__ double state_sum(const double* potentials, const double* incoming, Int table, int axis, int state) const {
        Log::Sum sum = Log::empty();
        for (int block = state * stride(axis); block < entries; block += states(axis) * stride(axis))
            for (int entry = block; entry < block + stride(axis); entry++)
                Log::add(sum, term(potentials, incoming, table, entry, axis));
        return Log::finish(sum);
    }
};

extern "C" __global__ void send_tables(
    const double* potentials, const double* incoming, const int* rows, Int arity, Int entries, Int count, double* out
) {
    Axes axes{rows, (int)arity, (int)entries};
    FOR_ALL_THREADS(edge, arity * count) {
        int axis = (int)(edge / count), states = axes.states(axis);
        Int table = edge % count;
        double* sent = out + axes.place(axis, table);
        double off = 0.0;
        for (int state = 0; state < states; state++) {
            double sum = axes.state_sum(potentials, incoming, table, axis, state);
            if (states != 2) sent[state] = sum;
            else if (state == 0) off = sum;
            else sent[0] = sum - off;
        }
    }
}

// Add to the adjoints of messages, which are zero at first, and of log-potentials.
extern "C" __global__ void send_tables_backward(
    const double* potentials, const double* incoming, const double* adjoint, const int* rows, Int arity, Int entries,
    Int count, double* out, double* of_potentials
) {
    Axes axes{rows, (int)arity, (int)entries};
    FOR_ALL_THREADS(table, count)
        for (int axis = 0; axis < arity; axis++) {
            int states = axes.states(axis);
            const double* sent = adjoint + axes.place(axis, table);
            for (int state = 0; state < states; state++) {
                double total = axes.state_sum(potentials, incoming, table, axis, state);
                double own = states != 2 ? sent[state] : state == 1 ? sent[0] : -sent[0];
                if (total == -infinity()) continue;
                for (int block = state * axes.stride(axis); block < entries; block += states * axes.stride(axis))
                    for (int entry = block; entry < block + axes.stride(axis); entry++) {
                        double part = own * exp(axes.term(potentials, incoming, table, entry, axis) - total);
                        of_potentials[table * entries + entry] += part;
                        for (int other = 0; other < arity; other++) {
                            if (other == axis) continue;
                            int at = axes.state(other, entry);
                            if (axes.states(other) != 2) out[axes.place(other, table) + at] += part;
                            else if (at == 1) out[axes.place(other, table)] += part;
                        }
                    }
            }
        }
}

extern "C" __global__ void sum_tables(
    const double* potentials, const double* incoming, const int* rows, Int arity, Int entries, Int count,
    double* beliefs, double* log_partitions
) {
    Axes axes{rows, (int)arity, (int)entries};
    FOR_ALL_THREADS(table, count) {
        Log::Sum sum = Log::empty();
        for (int entry = 0; entry < entries; entry++) Log::add(sum, axes.term(potentials, incoming, table, entry, -1));
        double total = Log::finish(sum), weights = 0.0;
        for (int axis = 0; axis < arity; axis++) {
            double odds = incoming[axes.place(axis, table)];
            if (axes.states(axis) == 2 && odds < infinity()) weights += softplus(odds);
        }
        for (int entry = 0; entry < entries; entry++)
            beliefs[table * entries + entry] = exp(axes.term(potentials, incoming, table, entry, -1) - total);
        log_partitions[table] = total - weights;
    }
}
