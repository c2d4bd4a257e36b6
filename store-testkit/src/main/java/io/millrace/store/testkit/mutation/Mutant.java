package io.millrace.store.testkit.mutation;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A copy of the project's code with a planted fault. A test that should detect a kind of fault must
 * fail on the mutant:
 *
 * <pre>
 *   Mutant.of("io.millrace.store.journal.files.ActiveSegment", "sync").withoutCall("sync")
 *       .firstFailure(50, StoreRun.class)
 *
 *   static final class StoreRun implements LongConsumer {
 *     public void accept(long seed) { StoreSimulation.run(seed); }
 *   }
 * </pre>
 *
 * <p>Classes of {@code io.millrace}, including tests, are loaded again for each call of {@link
 * #firstFailure}; all others are shared. The methods that change code do not throw; a change that
 * does not apply, because the class or method has another name or contains no such instruction,
 * fails the run. Immutable and thread-safe.
 */
public final class Mutant {
  private static final String PROJECT = "io.millrace.";

  /**
   * The run that detected a mutant.
   *
   * @param seed its seed
   * @param failure the exception that it threw
   */
  public record Failure(long seed, Throwable failure) {}

  private record Change(String type, String method, ClassTransform transform) {
    /** Whether the change applies to this method. */
    boolean isPlace(MethodModel found) {
      String name = found.methodName().stringValue();
      return name.equals(method) || name.startsWith("lambda$" + method + "$");
    }

    /** A transform that changes nothing, to compare the changed code with. */
    ClassTransform identity() {
      return ClassTransform.transformingMethodBodies(this::isPlace, CodeBuilder::with);
    }
  }

  private final String type;
  private final String method;
  private final List<Change> changes;

  private Mutant(String type, String method, List<Change> changes) {
    this.type = type;
    this.method = method;
    this.changes = List.copyOf(changes);
  }

  /**
   * Unchanged code; the following changes apply to this method.
   *
   * @param type the full name of a class of the project, with {@code $} before a nested name
   * @param method a method of it; all of that name are changed, with the lambdas in them
   */
  public static Mutant of(String type, String method) {
    return new Mutant(type, method, List.of());
  }

  /** The same; the following changes apply to another method. */
  public Mutant and(String type, String method) {
    return new Mutant(type, method, changes);
  }

  /** Removes calls of methods named {@code called}, whose result becomes 0, false or null. */
  public Mutant withoutCall(String called) {
    return with((code, element) -> {
      if (isCall(element, called)) {
        InvokeInstruction call = (InvokeInstruction) element;
        dropCall(code, call);
        pushDefault(code, call.typeSymbol().returnType());
      } else {
        code.with(element);
      }
    });
  }

  /** Replaces calls of methods named {@code called} by {@code value}. */
  public Mutant withCallReturning(String called, ConstantDesc value) {
    return with((code, element) -> {
      if (isCall(element, called)) {
        dropCall(code, (InvokeInstruction) element);
        code.loadConstant(value);
      } else {
        code.with(element);
      }
    });
  }

  /** Removes assignments to a field. */
  public Mutant withoutAssignment(String field) {
    return with((code, element) -> {
      if (element instanceof FieldInstruction access
          && (access.opcode() == Opcode.PUTFIELD || access.opcode() == Opcode.PUTSTATIC)
          && access.name().equalsString(field)) {
        drop(code, access.typeSymbol());
        if (access.opcode() == Opcode.PUTFIELD) {
          code.pop();
        }
      } else {
        code.with(element);
      }
    });
  }

  /** Replaces a constant, an int, long, double or string, by another one. */
  public Mutant withConstant(ConstantDesc from, ConstantDesc to) {
    return with((code, element) -> {
      if (element instanceof ConstantInstruction constant
          && constant.constantValue().equals(from)) {
        code.loadConstant(to);
      } else {
        code.with(element);
      }
    });
  }

  /** Replaces a conditional jump by another one, for example IFLT by IFLE. */
  public Mutant withJump(Opcode from, Opcode to) {
    return with((code, element) -> {
      if (element instanceof BranchInstruction branch && branch.opcode() == from) {
        code.branch(to, branch.target());
      } else {
        code.with(element);
      }
    });
  }

  /** Replaces the method body by a return of the value. */
  public Mutant returning(ConstantDesc value) {
    return withBody((code, result) -> {
      code.loadConstant(value);
      code.return_(result);
    });
  }

  /** Replaces the method body by a return of 0, false or null. */
  public Mutant returningNothing() {
    return withBody((code, result) -> {
      if (result != TypeKind.VOID) {
        pushDefault(code, result.upperBound());
      }
      code.return_(result);
    });
  }

  /** Applies any transform, which must keep no state between runs. */
  public Mutant with(CodeTransform transform) {
    Change place = new Change(type, method, ClassTransform.ACCEPT_ALL);
    return adding(ClassTransform.transformingMethodBodies(place::isPlace, transform));
  }

  /** Writes the body of a method for a kind of result. */
  @FunctionalInterface
  private interface Body {
    void write(CodeBuilder code, TypeKind result);
  }

  private Mutant withBody(Body body) {
    return adding(
        ClassTransform.transformingMethods(
            found -> found.methodName().equalsString(method),
            (builder, element) -> {
              if (element instanceof CodeModel model) {
                MethodModel found = model.parent().orElseThrow();
                TypeKind result = TypeKind.from(found.methodTypeSymbol().returnType());
                builder.withCode(code -> body.write(code, result));
              } else {
                builder.with(element);
              }
            }));
  }

  private Mutant adding(ClassTransform transform) {
    List<Change> more = new ArrayList<>(changes);
    more.add(new Change(type, method, transform));
    return new Mutant(type, method, more);
  }

  private static boolean isCall(Object element, String called) {
    return element instanceof InvokeInstruction call && call.name().equalsString(called);
  }

  /** Pops the arguments of a call from the stack. */
  private static void dropCall(CodeBuilder code, InvokeInstruction call) {
    MethodTypeDesc type = call.typeSymbol();
    for (int i = type.parameterCount() - 1; i >= 0; i--) {
      drop(code, type.parameterType(i));
    }
    if (call.opcode() != Opcode.INVOKESTATIC) {
      code.pop();
    }
  }

  private static void drop(CodeBuilder code, ClassDesc type) {
    if (TypeKind.from(type).slotSize() == 2) {
      code.pop2();
    } else {
      code.pop();
    }
  }

  private static void pushDefault(CodeBuilder code, ClassDesc type) {
    switch (TypeKind.from(type)) {
      case VOID -> {}
      case LONG -> code.lconst_0();
      case DOUBLE -> code.dconst_0();
      case FLOAT -> code.fconst_0();
      case REFERENCE -> code.aconst_null();
      default -> code.iconst_0();
    }
  }

  /**
   * Runs a test with the seeds 1 to {@code seeds} until it fails, in the calling thread.
   *
   * @param run a class with a constructor without parameters, loaded afresh, whose {@code accept}
   *     takes the seed
   * @return the first failure
   * @throws AssertionError if no run fails, a change does not apply, a changed class is never used,
   *     or the changed code is invalid
   */
  public Failure firstFailure(long seeds, Class<? extends LongConsumer> run) {
    Loader loader = new Loader(run.getClassLoader(), changes);
    LongConsumer subject = loader.subject(run.getName());
    for (long seed = 1; seed <= seeds; seed++) {
      try {
        subject.accept(seed);
      } catch (Throwable failure) {
        refuseBrokenCode(failure);
        loader.requireAllUsed();
        return new Failure(seed, failure);
      }
    }
    loader.requireAllUsed();
    throw new AssertionError(this + " was not noticed by " + seeds + " runs of " + run.getName());
  }

  /** A linkage failure means that the mutant is invalid, not that a test has detected it. */
  private void refuseBrokenCode(Throwable failure) {
    Set<Throwable> seen = new HashSet<>();
    for (Throwable e = failure; e != null && seen.add(e); e = e.getCause()) {
      if (e instanceof LinkageError || e instanceof NotApplicable) {
        throw new AssertionError(this + " cannot be run: " + e.getMessage(), failure);
      }
    }
  }

  @Override
  public String toString() {
    List<String> places =
        changes.stream().map(change -> change.type + "." + change.method).distinct().toList();
    return "the mutant of " + String.join(" and ", places);
  }

  /** Thrown for a change that does not apply. */
  private static final class NotApplicable extends RuntimeException {
    NotApplicable(String message) {
      super(message);
    }
  }

  /** Loads the project's classes itself, changed or not. */
  private static final class Loader extends ClassLoader {
    private final ClassLoader parent;
    private final List<Change> changes;
    private final Set<String> unused = new HashSet<>();

    Loader(ClassLoader parent, List<Change> changes) {
      super(parent);
      this.parent = parent;
      this.changes = changes;
      changes.forEach(change -> unused.add(change.type));
    }

    LongConsumer subject(String name) {
      try {
        Constructor<?> constructor = loadClass(name).getDeclaredConstructor();
        constructor.setAccessible(true);
        return (LongConsumer) constructor.newInstance();
      } catch (ReflectiveOperationException e) {
        throw new LinkageError(name + " has no constructor without parameters that works", e);
      }
    }

    void requireAllUsed() {
      synchronized (unused) {
        if (!unused.isEmpty()) {
          throw new AssertionError("never used, or not there: " + unused);
        }
      }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith(PROJECT)) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        @Nullable Class<?> loaded = findLoadedClass(name);
        return loaded != null ? loaded : define(name);
      }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
      byte[] bytes;
      try (@Nullable InputStream stream =
          parent.getResourceAsStream(name.replace('.', '/') + ".class")) {
        if (stream == null) {
          throw new ClassNotFoundException(name);
        }
        bytes = stream.readAllBytes();
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
      bytes = changed(name, bytes);
      return defineClass(name, bytes, 0, bytes.length);
    }

    private byte[] changed(String name, byte[] original) {
      ClassFile classFile =
          ClassFile.of(
              ClassFile.ClassHierarchyResolverOption.of(
                  ClassHierarchyResolver.ofResourceParsing(parent)
                      .orElse(ClassHierarchyResolver.defaultResolver())));
      byte[] bytes = original;
      for (Change change : changes) {
        if (change.type.equals(name)) {
          ClassModel model = classFile.parse(bytes);
          byte[] same = classFile.transformClass(model, change.identity());
          bytes = classFile.transformClass(model, change.transform);
          if (Arrays.equals(same, bytes)) {
            throw new NotApplicable("nothing in " + name + "." + change.method + " changes");
          }
          synchronized (unused) {
            unused.remove(name);
          }
        }
      }
      return bytes;
    }
  }
}
