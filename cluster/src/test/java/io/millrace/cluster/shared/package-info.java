/** What members share: by the real clock in one process, and by one that is moved by hand. */
@NullMarked
package io.millrace.cluster.shared;

import org.jspecify.annotations.NullMarked;
