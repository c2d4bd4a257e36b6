/**
 * Items to be worked on, each in a document of its own.
 *
 * <pre>
 *               take                    commit
 *   waiting ──────────► given to somebody ────► done, for good
 *      ▲                      │  │                ▲
 *      └──────────────────────┘  └────────────────┘ commit, whoever has it
 *        reEnqueue; or its leader is none any more and nothing is run that it has submitted
 * </pre>
 */
@NullMarked
package io.millrace.cluster.remote.backlog;

import org.jspecify.annotations.NullMarked;
