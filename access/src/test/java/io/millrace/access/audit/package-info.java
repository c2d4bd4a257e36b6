@NullMarked
package io.millrace.access.audit;

import org.jspecify.annotations.NullMarked;
