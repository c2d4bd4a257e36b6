/** Snapshots that are written beside the working store, and backups. */
@NullMarked
package io.millrace.store.kernel.snapshots;

import org.jspecify.annotations.NullMarked;
