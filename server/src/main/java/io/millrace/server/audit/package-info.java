/** The audit log of a server: what goes into it, and its routes under {@code /audit}. */
@NullMarked
package io.millrace.server.audit;

import org.jspecify.annotations.NullMarked;
