/** What members say about how their work goes: one document for each reporter and member. */
@NullMarked
package io.millrace.cluster.report;

import org.jspecify.annotations.NullMarked;
