/** Databases of MongoDB: their addresses, and clients for them. */
@NullMarked
package io.millrace.mongodb;

import org.jspecify.annotations.NullMarked;
