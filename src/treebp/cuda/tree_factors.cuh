// Messages of tree factors and their derivatives: the twin of treebp/kernels/tree_group.py and treebp/bp/log_trees.py.
//
// A block has a tree. `Family` says which trees: how to sum over them in real arithmetic, and in logarithms.
#pragma once
#include "logs.cuh"

struct Trees {
    const int *sizes, *first_arc, *first_position;  // of each tree
    const Int* first_cell;                          // of its matrices
    const int *heads, *modifiers;                   // of each arc
    const int* starts;                              // of each position: see Arcs in tree_group.py
    Int count;
    bool single_root;
    int* refused;  // by real arithmetic
    // Where a tree's matrices are, so many for each; before all of them, there is a number for each position.
    template <class T>
    __device__ T* matrices(double* scratch, Int t, int number) const {
        return (T*)(scratch + (first_position[count] + 1) / 2 * 2) + number * first_cell[t];
    }
};

struct Tree {
    int size, arcs;
    const int *heads, *modifiers, *starts;
    bool single_root;
    __device__ Tree(const Trees& trees, Int t)
        : size(trees.sizes[t]), arcs(trees.first_arc[t + 1] - trees.first_arc[t]),
          heads(trees.heads + trees.first_arc[t]), modifiers(trees.modifiers + trees.first_arc[t]),
          starts(trees.starts + trees.first_position[t]), single_root(trees.single_root) {}
    __device__ int cell(int arc) const { return heads[arc] * size + modifiers[arc]; }
};

#define FOR_MODIFIERS(m, tree) for (int m = 1 + threadIdx.x; m < (tree).size; m += blockDim.x)
#define FOR_ARCS(a, m, tree) for (int a = (tree).starts[(m) - 1]; a < (tree).starts[m]; a++)

// Fill in weights, those of each modifier beside its largest, with the derivatives `change`; say whether real arithmetic
// will do, and the log of the lightest tree there may be.
template <class A>
__device__ bool weigh_arcs(
    Tree tree, const double* log_odds, const double* change, double unit, double* tops, typename A::T* weights, double* lightest
) {
    double bad = 0.0, light = 0.0;
    FOR_MODIFIERS(m, tree) {
        double top = -infinity(), low = 0.0;
        FOR_ARCS(a, m, tree) top = fmax(top, log_odds[a]);
        tops[m] = top;
        if (!(-infinity() < top && top < infinity())) bad = 1.0;
        FOR_ARCS(a, m, tree) if (log_odds[a] > -infinity()) low = fmin(low, log_odds[a] - top);
        if (!(low >= -690.0)) bad = 1.0;
        light += low;
    }
    FOR_CELLS(head, modifier, tree.size) weights[head * tree.size + modifier] = A::zero();
    bad = over_block<larger>(bad);  // a barrier, too
    *lightest = over_block<add>(light);
    if (bad == 0.0)
        FOR_THREADS(a, tree.arcs) {
            double logit = log_odds[a] - tops[tree.modifiers[a]];
            weights[tree.cell(a)] = A::with_change(exp(logit), change ? change[a] / unit : 0.0);
        }
    __syncthreads();
    return bad == 0.0;
}

// Log-odds of each arc but for its own message: gain over what its modifier's other heads have. Say if nothing underflowed.
__device__ inline bool messages(
    Tree tree, const double* log_odds, const double* tops, const double* gains, const double* marginals, double* out
) {
    double bad = 0.0;
    FOR_MODIFIERS(m, tree) {
        double running = 0.0;
        int possible = 0;
        FOR_ARCS(a, m, tree) {
            out[a] = running;
            running += marginals[a];
            possible += gains[a] > 0.0 && log_odds[a] > -infinity();
        }
        running = 0.0;
        for (int a = tree.starts[m] - 1; a >= tree.starts[m - 1]; a--) {
            double off = out[a] + running;
            running += marginals[a];
            if (off < 1e-290 && possible > (gains[a] > 0.0 && log_odds[a] > -infinity())) bad = 1.0;
            out[a] = (off > 0.0 ? gains[a] > 0.0 ? log(gains[a]) - log(off) : -infinity() : infinity()) - tops[m];
        }
    }
    return over_block<larger>(bad) == 0.0;
}

template <class Family>
__device__ void send(
    const Trees& trees, const double* all_odds, double* all_out, double* all_marginals, double* all_gains,
    double* log_partitions, double* scratch
) {
    Int t = blockIdx.x;
    Tree tree(trees, t);
    int cells = tree.size * tree.size, arc = trees.first_arc[t];
    double *tops = scratch + trees.first_position[t], *weights = trees.matrices<double>(scratch, t, Family::real_matrices);
    double *sums = weights + cells, *rest = sums + cells;
    const double* log_odds = all_odds + arc;
    double *out = all_out + arc, *marginals = all_marginals + arc, *gains = all_gains + arc;
    double lightest, log_partition = 0.0;
    bool fine = weigh_arcs<Real>(tree, log_odds, nullptr, 1.0, tops, weights, &lightest) &&
        Family::real_sums(tree, weights, lightest, rest, sums, &log_partition);
    if (fine) {
        FOR_THREADS(a, tree.arcs) {
            gains[a] = sums[tree.cell(a)];
            marginals[a] = weights[tree.cell(a)] * gains[a];
        }
        __syncthreads();
        fine = messages(tree, log_odds, tops, gains, marginals, out);
    }
    double total = 0.0;
    FOR_MODIFIERS(m, tree) total += tops[m];
    total = over_block<add>(total);
    if (threadIdx.x == 0) {
        trees.refused[t] = !fine;
        log_partitions[t] = log_partition + total;
    }
}

// From the adjoints of messages to those of log weights and of log gains; infinite messages have no derivative.
__device__ inline void through_messages(
    Tree tree, const double* gains, const double* marginals, const double* adjoint, double* of_weights, double* of_gains
) {
    FOR_MODIFIERS(m, tree) {
        FOR_ARCS(a, m, tree) of_weights[a] = of_gains[a] = 0.0;
        FOR_ARCS(a, m, tree) {
            if (adjoint[a] == 0.0 || gains[a] == 0.0) continue;
            double off = 0.0;
            FOR_ARCS(b, m, tree) off += b != a ? marginals[b] : 0.0;
            if (off == 0.0) continue;
            of_gains[a] += adjoint[a];
            FOR_ARCS(b, m, tree) {
                double share = b != a ? adjoint[a] * marginals[b] / off : 0.0;
                of_weights[b] -= share;
                of_gains[b] -= share;
            }
        }
    }
    __syncthreads();
}

template <class Family>
__device__ void send_backward(
    const Trees& trees, const double* all_odds, const double* all_marginals, const double* all_gains,
    const double* all_adjoint, double* all_out, double* all_changes, double* scratch
) {
    Int t = blockIdx.x;
    if (trees.refused[t]) return;
    Tree tree(trees, t);
    int cells = tree.size * tree.size, arc = trees.first_arc[t];
    double* tops = scratch + trees.first_position[t];
    Pair *weights = trees.matrices<Pair>(scratch, t, Family::real_matrices), *sums = weights + cells, *rest = sums + cells;
    double *out = all_out + arc, *changes = all_changes + arc, lightest, log_partition, unit = 1e100;
    const double *log_odds = all_odds + arc, *gains = all_gains + arc;
    through_messages(tree, gains, all_marginals + arc, all_adjoint + arc, out, changes);
    FOR_THREADS(a, tree.arcs) {
        changes[a] = changes[a] != 0.0 ? changes[a] / gains[a] : 0.0;
        unit = fmax(unit, fabs(changes[a]));
    }
    unit = over_block<larger>(unit);  // beyond 1e100, changes are measured by the largest one, lest anything overflow
    unit = unit > 1e100 ? unit : 1.0;
    weigh_arcs<Dual>(tree, log_odds, changes, unit, tops, weights, &lightest);
    Family::real_sums(tree, weights, 0.0, rest, sums, &log_partition);
    FOR_THREADS(a, tree.arcs) out[a] += unit * (weights[tree.cell(a)].value * sums[tree.cell(a)].slope);
}

// Log-weights, where an arc that is forced weighs nothing and its rivals are out; whether two are forced at a time.
__device__ inline bool log_weights(Tree tree, const double* log_odds, Pair* weights) {
    double bad = 0.0;
    FOR_CELLS(head, modifier, tree.size) weights[head * tree.size + modifier] = LogDual::zero();
    __syncthreads();
    FOR_MODIFIERS(m, tree) {
        int forced = 0;
        FOR_ARCS(a, m, tree) forced += log_odds[a] == infinity();
        if (forced > 1) bad = 1.0;
        FOR_ARCS(a, m, tree) {
            double weight = log_odds[a] == infinity() ? 0.0 : forced ? -infinity() : log_odds[a];
            weights[tree.cell(a)] = Pair{weight, 0.0};
        }
    }
    bad = over_block<larger>(bad);
    __syncthreads();
    return bad == 0.0;
}

// An arc's log-weight times gain, as if it had no rival that is forced; and the sum over its modifier's other arcs.
__device__ inline double term(Tree tree, const double* log_odds, const Pair* sums, int a) {
    return (log_odds[a] == infinity() ? 0.0 : log_odds[a]) + sums[tree.cell(a)].value;
}
__device__ inline double others(Tree tree, const double* log_odds, const Pair* sums, int m, int a) {
    Log::Sum sum = Log::empty();
    FOR_ARCS(b, m, tree) if (b != a) Log::add(sum, term(tree, log_odds, sums, b));
    return Log::finish(sum);
}
__device__ inline bool is_rival(Tree tree, const double* log_odds, int m, int a) {
    if (log_odds[a] == infinity()) return false;
    FOR_ARCS(b, m, tree) if (log_odds[b] == infinity()) return true;
    return false;
}

template <class Family>
__device__ void send_in_logs(
    const Trees& trees, const double* all_odds, double* all_out, double* log_partitions, double* scratch, Int room
) {
    for (Int t = blockIdx.x; t < trees.count; t += gridDim.x) {
        if (!trees.refused[t]) continue;
        Tree tree(trees, t);
        int cells = tree.size * tree.size;
        Pair *weights = (Pair*)(scratch + blockIdx.x * room), *sums = weights + cells;
        double* rest = (double*)(sums + cells);
        const double* log_odds = all_odds + trees.first_arc[t];
        double* out = all_out + trees.first_arc[t];
        Pair z = LogDual::zero();
        if (log_weights(tree, log_odds, weights)) z = Family::log_sums(tree, weights, rest, sums);
        FOR_MODIFIERS(m, tree)
            FOR_ARCS(a, m, tree) {
                double message = not_a_number();
                if (z.value > -infinity())
                    message = is_rival(tree, log_odds, m, a)
                        ? -infinity()
                        : sums[tree.cell(a)].value - others(tree, log_odds, sums, m, a);
                out[a] = message;
            }
        if (threadIdx.x == 0) log_partitions[t] = z.value;
        __syncthreads();
    }
}

// A gain does not depend on the weights of its own modifier's arcs: so each modifier is done by itself, with weights that
// make its arcs equally probable, and nothing is divided by a marginal that may be small.
template <class Family>
__device__ void send_in_logs_backward(
    const Trees& trees, const double* all_odds, const double* all_messages, const double* all_adjoint, double* all_out,
    double* scratch, Int room
) {
    for (Int t = blockIdx.x; t < trees.count; t += gridDim.x) {
        if (!trees.refused[t]) continue;
        Tree tree(trees, t);
        int size = tree.size, cells = size * size;
        Pair *weights = (Pair*)(scratch + blockIdx.x * room), *equal = weights + cells;
        Pair *sums = equal + cells, *moved = sums + cells;
        double *of_gains = (double*)(moved + cells), *of_odds = of_gains + cells, *rest = of_odds + cells;
        int arc = trees.first_arc[t];
        const double *log_odds = all_odds + arc, *adjoint = all_adjoint + arc, *sent = all_messages + arc;
        double* out = all_out + arc;
        bool possible = log_weights(tree, log_odds, weights);
        if (possible) possible = Family::log_sums(tree, weights, rest, sums).value > -infinity();
        FOR_CELLS(head, modifier, size) of_gains[head * size + modifier] = of_odds[head * size + modifier] = 0.0;
        __syncthreads();
        FOR_MODIFIERS(m, tree)
            FOR_ARCS(a, m, tree) {
                if (!possible || !is_finite(sent[a]) || adjoint[a] == 0.0) continue;
                double total = others(tree, log_odds, sums, m, a);
                of_gains[tree.cell(a)] += adjoint[a];
                FOR_ARCS(b, m, tree) {
                    if (b == a) continue;
                    double share = adjoint[a] * exp(term(tree, log_odds, sums, b) - total);
                    of_gains[tree.cell(b)] -= share;
                    of_odds[tree.cell(b)] -= share;
                }
            }
        __syncthreads();
        for (int m = 1; m < size; m++) {
            double any = 0.0, count = 0.0;
            FOR_THREADS(head, size) {
                any = of_gains[head * size + m] != 0.0 ? 1.0 : any;
                count += sums[head * size + m].value > -infinity();
            }
            any = over_block<larger>(any);
            count = over_block<add>(count);
            if (any == 0.0) continue;
            FOR_CELLS(head, modifier, size) {
                int cell = head * size + modifier;
                double gain = sums[cell].value;
                equal[cell] = modifier != m ? weights[cell]
                    : gain > -infinity() ? Pair{-gain, of_gains[cell] * count} : LogDual::zero();
            }
            __syncthreads();
            Pair z = Family::log_sums(tree, equal, rest, moved);
            FOR_CELLS(head, modifier, size) {
                int cell = head * size + modifier;
                double marginal = exp(equal[cell].value + moved[cell].value);
                if (modifier != m && marginal > 0.0) of_odds[cell] += marginal * (moved[cell].slope + z.slope);
            }
            __syncthreads();
        }
        FOR_THREADS(a, tree.arcs) out[a] = is_finite(log_odds[a]) ? of_odds[tree.cell(a)] : 0.0;
        __syncthreads();
    }
}

#define TREES const int *sizes, const int *first_arc, const int *first_position, const Int *first_cell, \
    const int *heads, const int *modifiers, const int *starts, Int count, Int single_root, int *refused
#define MADE Trees{sizes, first_arc, first_position, first_cell, heads, modifiers, starts, count, single_root != 0, refused}

#define TREE_FACTORS_IN(name, backward_name, Family)                                                          \
    extern "C" __global__ void name(                                                                          \
        TREES, const double* log_odds, double* out, double* marginals, double* gains, double* log_partitions, \
        double* scratch                                                                                       \
    ) {                                                                                                       \
        send<Family>(MADE, log_odds, out, marginals, gains, log_partitions, scratch);                         \
    }                                                                                                         \
    extern "C" __global__ void backward_name(                                                                 \
        TREES, const double* log_odds, const double* marginals, const double* gains, const double* adjoint,   \
        double* out, double* changes, double* scratch                                                         \
    ) {                                                                                                       \
        send_backward<Family>(MADE, log_odds, marginals, gains, adjoint, out, changes, scratch);              \
    }

#define TREE_FACTORS(Family)                                                                              \
    TREE_FACTORS_IN(send_trees, send_trees_backward, Family<false>)                                       \
    TREE_FACTORS_IN(send_trees_shared, send_trees_backward_shared, Family<true>)                          \
    extern "C" __global__ void send_trees_in_logs(                                                        \
        TREES, const double* log_odds, double* out, double* log_partitions, double* scratch, Int room     \
    ) {                                                                                                   \
        send_in_logs<Family<false>>(MADE, log_odds, out, log_partitions, scratch, room);                  \
    }                                                                                                     \
    extern "C" __global__ void send_trees_in_logs_backward(                                               \
        TREES, const double* log_odds, const double* messages, const double* adjoint, double* out,        \
        double* scratch, Int room                                                                         \
    ) {                                                                                                   \
        send_in_logs_backward<Family<false>>(MADE, log_odds, messages, adjoint, out, scratch, room);      \
    }
