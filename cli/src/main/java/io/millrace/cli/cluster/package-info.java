/** {@code millrace member} and {@code millrace cluster}: run a member, and show a cluster. */
@NullMarked
package io.millrace.cli.cluster;

import org.jspecify.annotations.NullMarked;
