/** Reading and writing the JSON of the APIs. */
@NullMarked
package io.millrace.http.json;

import org.jspecify.annotations.NullMarked;
