package io.millrace.queues.plugin;

import io.millrace.queues.plugin.PluginDeclaration.Param;
import io.millrace.queues.plugin.PluginDeclaration.ParamType;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.Annotation;
import java.lang.classfile.AnnotationElement;
import java.lang.classfile.AnnotationValue;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.attribute.RuntimeVisibleAnnotationsAttribute;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the classes that are plugins by reading class files, without running their code. A class
 * that inherits {@link Plugin} from another class is not found.
 */
final class PluginClasses {
  private static final String PLUGIN = Plugin.class.getName().replace('.', '/');

  private static final String ONE = PluginParam.class.descriptorString();
  private static final String ALL = PluginParams.class.descriptorString();
  private static final String CLASS = ".class";
  private static final Logger LOG = LoggerFactory.getLogger(PluginClasses.class);

  private PluginClasses() {}

  /** Their names, in order. */
  static Set<String> in(ClassFiles files) {
    Set<String> names = new TreeSet<>();
    read(files, bytes -> plugin(bytes).ifPresent(names::add));
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
      // It is named like a class file and is not one.
      return Optional.empty();
    }
  }

  /**
   * What classes declare with annotations, by their names. A declaration that is not valid is left
   * out, with a warning.
   */
  static Map<String, PluginDeclaration> declarations(ClassFiles files) {
    Map<String, PluginDeclaration> declared = new TreeMap<>();
    read(
        files,
        bytes -> {
          ClassModel model;
          try {
            model = ClassFile.of().parse(bytes);
          } catch (IllegalArgumentException _) {
            return;
          }
          String name = model.thisClass().asInternalName().replace('/', '.');
          try {
            declaration(model).ifPresent(found -> declared.put(name, found));
          } catch (IllegalArgumentException e) {
            LOG.warn("the declaration of plugin {} counts for nothing: {}", name, e.getMessage());
          }
        });
    return declared;
  }

  private static Optional<PluginDeclaration> declaration(ClassModel model) {
    List<Annotation> annotations =
        model
            .findAttribute(Attributes.runtimeVisibleAnnotations())
            .map(RuntimeVisibleAnnotationsAttribute::annotations)
            .orElse(List.of());
    for (Annotation annotation : annotations) {
      if (annotation.className().equalsString(ALL)) {
        return Optional.of(new PluginDeclaration(params(annotation)));
      }
      if (annotation.className().equalsString(ONE)) {
        return Optional.of(new PluginDeclaration(List.of(param(annotation))));
      }
    }
    return Optional.empty();
  }

  private static List<Param> params(Annotation all) {
    List<Param> params = new ArrayList<>();
    for (AnnotationElement element : all.elements()) {
      if (element.value() instanceof AnnotationValue.OfArray list) {
        for (AnnotationValue each : list.values()) {
          if (each instanceof AnnotationValue.OfAnnotation one) {
            params.add(param(one.annotation()));
          }
        }
      }
    }
    return params;
  }

  private static Param param(Annotation annotation) {
    String name = "";
    ParamType type = ParamType.ANY;
    boolean required = false;
    String description = "";
    for (AnnotationElement element : annotation.elements()) {
      switch (element.value()) {
        case AnnotationValue.OfString text when element.name().equalsString("name") ->
            name = text.stringValue();
        case AnnotationValue.OfString text -> description = text.stringValue();
        case AnnotationValue.OfEnum constant ->
            type = ParamType.valueOf(constant.constantName().stringValue());
        case AnnotationValue.OfBoolean flag -> required = flag.booleanValue();
        default -> {}
      }
    }
    return new Param(name, type, required, description);
  }

  /** Passes on the content of every class file. */
  private static void read(ClassFiles files, Consumer<byte[]> reader) {
    for (Path entry : files.entries()) {
      if (Files.isDirectory(entry)) {
        FileVisit.visit(
            entry,
            (file, _) -> {
              if (file.toString().endsWith(CLASS)) {
                readFile(file, reader);
              }
            });
      } else {
        readJar(entry, reader);
      }
    }
  }

  private static void readFile(Path file, Consumer<byte[]> reader) {
    byte[] content;
    try {
      content = Files.readAllBytes(file);
    } catch (IOException e) {
      LOG.warn("the class {} cannot be read: {}", file, e.toString());
      return;
    }
    reader.accept(content);
  }

  private static void readJar(Path jar, Consumer<byte[]> reader) {
    try (JarFile file = new JarFile(jar.toFile(), false)) {
      for (JarEntry entry : Collections.list(file.entries())) {
        if (entry.getName().endsWith(CLASS)) {
          try (InputStream content = file.getInputStream(entry)) {
            reader.accept(content.readAllBytes());
          }
        }
      }
    } catch (IOException e) {
      LOG.warn("the jar {} cannot be read: {}", jar, e.toString());
    }
  }
}
