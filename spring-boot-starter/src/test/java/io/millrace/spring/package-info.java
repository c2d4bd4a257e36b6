@NullMarked
package io.millrace.spring;

import org.jspecify.annotations.NullMarked;
