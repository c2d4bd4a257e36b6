package io.millrace.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method of a bean that works on jobs of a type. Its first parameter is the payload, and a second
 * one may be the {@link io.millrace.client.jobs.JobContext}; what it returns is the result. If it
 * throws, the job has failed, as in {@link io.millrace.client.jobs.JobKind.Handler}. It is called
 * by several threads at a time if {@link #concurrency} says so.
 *
 * <p>A method that cannot be one makes the start of the application fail with its name.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface MillraceJob {
  /** The name of the type, 1 to 64 characters out of {@code A-Z a-z 0-9 . _ -}. */
  String value();

  /** How many jobs at a time in this process, 1 to 1,000. */
  int concurrency() default 1;
}
