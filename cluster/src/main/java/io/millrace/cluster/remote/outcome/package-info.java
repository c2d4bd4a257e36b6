/** What comes of a lambda, and the document that says so. */
@NullMarked
package io.millrace.cluster.remote.outcome;

import org.jspecify.annotations.NullMarked;
