/**
 * What does the work of queue tasks: plugins, built in, in Java, or programs of any language.
 *
 * <p>A plugin in Java implements {@link io.millrace.queues.plugin.Plugin} and lies as a jar, or a
 * folder of classes, in the plugin folder. A program lies there as an executable file. {@link
 * io.millrace.queues.plugin.PluginFolder} says which names can be run, {@link
 * io.millrace.queues.plugin.Plugins} makes them ready to run.
 */
@NullMarked
package io.millrace.queues.plugin;

import org.jspecify.annotations.NullMarked;
