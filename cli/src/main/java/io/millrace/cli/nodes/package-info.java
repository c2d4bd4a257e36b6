/** {@code millrace nodes} and {@code millrace config}: execution nodes and what they are told. */
@NullMarked
package io.millrace.cli.nodes;

import org.jspecify.annotations.NullMarked;
