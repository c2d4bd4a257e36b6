package io.millrace.queues.plugin;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** How the params of a task become a program to start. */
public interface ProgramForm {
  /** {@code command}, given to bash. */
  ProgramForm SHELL =
      params -> new Call(List.of("bash", "-c", need(params, "command")), Map.of(), null, false);

  /** {@code command} with {@code args}, {@code env} and {@code cwd}; no shell sees them. */
  ProgramForm EXEC = ProgramForm::exec;

  /** An executable, which gets the params as JSON on its standard input. */
  static ProgramForm executable(Path file) {
    return params -> new Call(List.of(file.toString()), Map.of(), null, true);
  }

  /**
   * A program to start.
   *
   * @param command the program and its arguments
   * @param environment variables beside those that every task gets
   * @param directory the working directory; null for the task's own folder
   * @param paramsOnStdin whether it reads the params as JSON; its input is empty otherwise
   */
  record Call(
      List<String> command,
      Map<String, String> environment,
      @Nullable String directory,
      boolean paramsOnStdin) {
    /** Copies the parts. */
    public Call {
      command = List.copyOf(command);
      environment = Map.copyOf(environment);
    }
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
    return new Call(command, environment, cwd, false);
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
