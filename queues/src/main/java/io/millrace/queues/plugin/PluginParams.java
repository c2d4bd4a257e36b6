package io.millrace.queues.plugin;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * All params of a {@link Plugin}, see {@link PluginParam}; an empty list for one without params.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface PluginParams {
  /** The params. */
  PluginParam[] value();
}
