package io.millrace.queues.plugin;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.reflect.AccessFlag;
import java.util.Collections;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Finds the classes that are plugins by reading class files; no code of theirs is run. One that
 * inherits {@link Plugin} from another class is not found so.
 */
final class PluginClasses {
  private static final String PLUGIN = Plugin.class.getName().replace('.', '/');

  private PluginClasses() {}

  /** Their names, in order. */
  static Set<String> in(ClassFiles files) {
    Set<String> names = new TreeSet<>();
    ClassContents.read(files, bytes -> plugin(bytes).ifPresent(names::add));
    return Collections.unmodifiableSet(names);
  }

  /** The name of a public class that implements the interface itself. */
  private static Optional<String> plugin(byte[] bytes) {
    try {
      ClassModel model = ClassFile.of().parse(bytes);
      boolean usable =
          model.flags().has(AccessFlag.PUBLIC) && !model.flags().has(AccessFlag.ABSTRACT);
      return usable
              && model.interfaces().stream().anyMatch(type -> type.asInternalName().equals(PLUGIN))
          ? Optional.of(model.thisClass().asInternalName().replace('/', '.'))
          : Optional.empty();
    } catch (IllegalArgumentException _) {
      // It has the name of a class file and is none.
      return Optional.empty();
    }
  }
}
