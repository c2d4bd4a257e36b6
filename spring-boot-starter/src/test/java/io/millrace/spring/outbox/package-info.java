@NullMarked
package io.millrace.spring.outbox;

import org.jspecify.annotations.NullMarked;
