package io.millrace.queues.plugin;

import io.millrace.queues.plugin.PluginDeclaration.ParamType;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Declares a param that the tasks of a {@link Plugin} have. It is read from the class file, without
 * running code of the plugin. Once a plugin declares one, params that it does not declare are
 * refused at submission; without any declaration it takes any params.
 */
@Documented
@Repeatable(PluginParams.class)
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface PluginParam {
  /** Its name, 1 to 100 characters. */
  String name();

  /** What its value has to be. The default is any value. */
  ParamType type() default ParamType.ANY;

  /** Whether every task needs it, with a value other than null. The default is false. */
  boolean required() default false;

  /** What it is for, at most 500 characters. Empty, the default, for no description. */
  String description() default "";
}
