@NullMarked
package io.millrace.http.transport;

import org.jspecify.annotations.NullMarked;
