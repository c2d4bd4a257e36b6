/** The journal of a store in a collection of MongoDB. */
@NullMarked
package io.millrace.journal.mongo;

import org.jspecify.annotations.NullMarked;
