/**
 * Auto-configuration of Millrace in Spring Boot: a server in the application's process or a client
 * of one, and methods that work on jobs.
 */
@NullMarked
package io.millrace.spring;

import org.jspecify.annotations.NullMarked;
