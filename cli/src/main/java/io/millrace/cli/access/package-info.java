/** The commands {@code millrace access}: who may use a server. */
@NullMarked
package io.millrace.cli.access;

import org.jspecify.annotations.NullMarked;
