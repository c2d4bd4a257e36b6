/** Commands of cluster coordination: a member, and what its documents show. */
@NullMarked
package io.millrace.cli.cluster;

import org.jspecify.annotations.NullMarked;
