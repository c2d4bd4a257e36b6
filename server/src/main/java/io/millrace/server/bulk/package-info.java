/** The API of bulk actions, under {@code /bulk}. */
@NullMarked
package io.millrace.server.bulk;

import org.jspecify.annotations.NullMarked;
