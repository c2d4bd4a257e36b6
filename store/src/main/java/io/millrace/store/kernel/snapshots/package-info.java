/** Snapshots, which are written while the store works, and backups. */
@NullMarked
package io.millrace.store.kernel.snapshots;

import org.jspecify.annotations.NullMarked;
