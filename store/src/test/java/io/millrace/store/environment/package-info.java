/** Tests of what a store needs from the world. */
@org.jspecify.annotations.NullMarked
package io.millrace.store.environment;
