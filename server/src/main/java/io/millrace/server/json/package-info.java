/** JSON as the APIs read and write it. */
@NullMarked
package io.millrace.server.json;

import org.jspecify.annotations.NullMarked;
