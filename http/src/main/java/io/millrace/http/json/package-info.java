/** JSON as the APIs read and write it. */
@NullMarked
package io.millrace.http.json;

import org.jspecify.annotations.NullMarked;
