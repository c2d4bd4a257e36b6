/** The commands that read, change, save and check a store. */
@NullMarked
package io.millrace.cli.store;

import org.jspecify.annotations.NullMarked;
