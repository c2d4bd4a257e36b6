package io.millrace.cli.cluster;

import io.millrace.cli.terminal.UsageException;
import io.millrace.cluster.remote.RemoteWork;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.Map;

/** A program of the users' own. */
final class UsersProgram {
  private UsersProgram() {}

  /**
   * Makes an object of its class, by the public constructor that takes a map of settings, or the
   * one without parameters where there are no settings.
   *
   * @throws UsageException naming the class, where that is not possible
   */
  static RemoteWork make(String name, Map<String, String> settings, ClassLoader classes) {
    try {
      Class<?> type = Class.forName(name, false, classes);
      if (!RemoteWork.class.isAssignableFrom(type)) {
        throw refused(name, "does not implement " + RemoteWork.class.getName());
      }
      return make(type.asSubclass(RemoteWork.class), settings);
    } catch (ClassNotFoundException e) {
      throw new UsageException("there is no class " + name + " on --classpath", e);
    } catch (InvocationTargetException e) {
      throw new UsageException("class " + name + " cannot be made: " + e.getCause(), e);
    } catch (ReflectiveOperationException | LinkageError e) {
      throw new UsageException("class " + name + " cannot be made: " + e, e);
    }
  }

  private static RemoteWork make(Class<? extends RemoteWork> type, Map<String, String> settings)
      throws ReflectiveOperationException {
    for (Constructor<?> constructor : type.getConstructors()) {
      if (constructor.getParameterCount() == 1 && constructor.getParameterTypes()[0] == Map.class) {
        return type.getConstructor(Map.class).newInstance(settings);
      }
    }
    if (!settings.isEmpty()) {
      throw refused(type.getName(), "has no public constructor that takes a Map of --set");
    }
    try {
      return type.getConstructor().newInstance();
    } catch (NoSuchMethodException e) {
      throw refused(
          type.getName(), "has no public constructor without parameters, nor one that takes a Map");
    }
  }

  private static UsageException refused(String name, String why) {
    return new UsageException("class " + name + " " + why);
  }
}
