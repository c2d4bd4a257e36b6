package io.millrace.queues.plugin;

import io.millrace.queues.Status;
import io.millrace.queues.plugin.PluginDeclaration.Param;
import io.millrace.queues.plugin.PluginDeclaration.ParamType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** How the params of a task become a program to start. */
public interface ProgramForm {
  /** The params of {@link #SHELL}. */
  PluginDeclaration SHELL_PARAMS =
      new PluginDeclaration(
          List.of(
              Param.of("command", ParamType.TEXT, "the command that bash runs"),
              Param.of("mixed", ParamType.BOOLEAN, "whether both outputs are also kept together")));

  /** The params of {@link #EXEC}. */
  PluginDeclaration EXEC_PARAMS =
      new PluginDeclaration(
          List.of(
              Param.of("command", ParamType.TEXT, "the program"),
              Param.of("args", ParamType.ARRAY, "its arguments"),
              Param.of("env", ParamType.OBJECT, "variables of its environment"),
              Param.of(
                  "cwd", ParamType.TEXT, "its working directory; a new folder if it is absent"),
              Param.of("mixed", ParamType.BOOLEAN, "whether both outputs are also kept together")));

  /** {@code command}, given to bash. */
  ProgramForm SHELL =
      params ->
          new Call(
              List.of("bash", "-c", need(params, "command")),
              Map.of(),
              null,
              Input.NOTHING,
              output(params));

  /** {@code command} with {@code args}, {@code env} and {@code cwd}; no shell sees them. */
  ProgramForm EXEC = ProgramForm::exec;

  /** An executable, which gets the params as JSON on its standard input. */
  static ProgramForm executable(Path file) {
    return params ->
        new Call(List.of(file.toString()), Map.of(), null, Input.PARAMS, Output.WRITTEN);
  }

  /**
   * A program to start.
   *
   * @param command the program and its arguments
   * @param environment variables beside those that every task gets
   * @param directory the working directory; null for the task's own folder
   * @param input what it reads from its standard input
   * @param output what the outputs of the task are
   */
  record Call(
      List<String> command,
      Map<String, String> environment,
      @Nullable String directory,
      Input input,
      Output output) {
    public Call {
      command = List.copyOf(command);
      environment = Map.copyOf(environment);
    }
  }

  /** What a program reads from its standard input. */
  enum Input {
    /** Nothing. */
    NOTHING,
    /** The params as JSON. */
    PARAMS,
    /**
     * The task as JSON, with the fields of a document of Disbatch: ids are {@code {"$oid": …}},
     * times {@code {"$date": MILLIS}}.
     */
    TASK
  }

  /** What the outputs of a task are. */
  enum Output {
    /** What the program writes. */
    WRITTEN,
    /** The same, and both together in order of arrival. */
    MIXED,
    /**
     * What the program writes until it has ended; then what it has left in the files that {@code
     * MILLRACE_RETURNED_STDOUT} and {@code MILLRACE_RETURNED_STDERR} name, if it has. It fails if
     * it ends without having written a status.
     */
    RETURNED
  }

  /**
   * The program for these params.
   *
   * @throws PluginException when they are not what the plugin needs
   */
  Call call(ObjectNode params) throws PluginException;

  private static Call exec(ObjectNode params) throws PluginException {
    List<String> command = new ArrayList<>(List.of(need(params, "command")));
    JsonNode args = params.path("args");
    if (!args.isMissingNode() && !args.isArray()) {
      throw new PluginException("the param args is not an array");
    }
    for (JsonNode arg : args) {
      command.add(text("args", arg));
    }
    JsonNode env = params.path("env");
    if (!env.isMissingNode() && !env.isObject()) {
      throw new PluginException("the param env is not an object");
    }
    Map<String, String> environment = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> variable : env.properties()) {
      String name = variable.getKey();
      if (!name.matches("[A-Za-z_][A-Za-z0-9_]*")) {
        throw new PluginException("the param env has no good name of a variable: " + name);
      }
      environment.put(name, text("env", variable.getValue()));
    }
    String cwd = params.has("cwd") ? text("cwd", params.path("cwd")) : null;
    return new Call(command, environment, cwd, Input.NOTHING, output(params));
  }

  /** A running task as {@link Input#TASK} describes; without its times. */
  static ObjectNode document(String task, String queue, String node, ObjectNode params) {
    ObjectNode document = JsonNodeFactory.instance.objectNode();
    document.putObject("_id").put("$oid", task);
    document.putObject("queue").put("$oid", queue);
    document.put("node", node);
    document.put("status", Status.RUNNING);
    document.set("params", params);
    document.putNull("stdout");
    document.putNull("stderr");
    return document;
  }

  private static Output output(ObjectNode params) throws PluginException {
    JsonNode mixed = params.path("mixed");
    if (!mixed.isMissingNode() && !mixed.isBoolean()) {
      throw new PluginException("the param mixed is neither true nor false");
    }
    return mixed.asBoolean(false) ? Output.MIXED : Output.WRITTEN;
  }

  private static String need(ObjectNode params, String name) throws PluginException {
    if (!params.has(name)) {
      throw new PluginException("the param " + name + " is missing");
    }
    String value = text(name, params.path(name));
    if (value.isEmpty()) {
      throw new PluginException("the param " + name + " is empty");
    }
    return value;
  }

  private static String text(String name, JsonNode value) throws PluginException {
    if (!value.isString() && !value.isNumber() && !value.isBoolean()) {
      throw new PluginException("the param " + name + " is not text");
    }
    String text = value.asString();
    if (text.indexOf('\0') >= 0) {
      throw new PluginException("the param " + name + " contains the character 0");
    }
    return text;
  }
}
