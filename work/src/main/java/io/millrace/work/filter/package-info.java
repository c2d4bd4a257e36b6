/**
 * Filters that choose items by the values of their fields, written as JSON with operators of
 * MongoDB. A {@link io.millrace.work.filter.Filter} is applied to a {@link
 * io.millrace.work.filter.Subject}; {@link io.millrace.work.filter.FilterFields} says which fields
 * one kind of item has. Pure: no clock, no store.
 */
@NullMarked
package io.millrace.work.filter;

import org.jspecify.annotations.NullMarked;
