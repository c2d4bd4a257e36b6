/** Members as processes, on every home of documents, and the commands that look at them. */
@NullMarked
package io.millrace.cli.cluster;

import org.jspecify.annotations.NullMarked;
