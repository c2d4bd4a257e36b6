/**
 * The audit log: who changed what, when and from where, and what was refused. {@link
 * io.millrace.access.audit.AuditLog} writes and reads it.
 */
@NullMarked
package io.millrace.access.audit;

import org.jspecify.annotations.NullMarked;
