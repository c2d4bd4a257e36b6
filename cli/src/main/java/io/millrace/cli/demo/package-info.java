/** {@code millrace demo}: programs that come with Millrace. */
@NullMarked
package io.millrace.cli.demo;

import org.jspecify.annotations.NullMarked;
