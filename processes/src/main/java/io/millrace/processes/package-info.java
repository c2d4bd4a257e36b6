/**
 * Programs of the operating system: started in a session of their own, watched, ended, found again.
 */
@NullMarked
package io.millrace.processes;

import org.jspecify.annotations.NullMarked;
