/** A whole server in the process of a Java program, with or without HTTP. */
@NullMarked
package io.millrace.embedded;

import org.jspecify.annotations.NullMarked;
