package io.tokenstair.event.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import io.tokenstair.event.Chunk;
import io.tokenstair.event.ChunkDelivered;
import io.tokenstair.event.Event;
import io.tokenstair.event.EventFixtures;
import io.tokenstair.event.EventHeader;
import io.tokenstair.event.EventKind;
import io.tokenstair.event.Field;
import io.tokenstair.event.SequenceRow;
import io.tokenstair.event.StepCompleted;
import io.tokenstair.event.wire.proto.LogRecord;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Keeps docs/event-catalog.md, the records and the protobuf schema saying the same. */
class EventCatalogTest {
    private static final Path CATALOG = Path.of("../docs/event-catalog.md");
    private static final Pattern SECTION = Pattern.compile("## (\\w+) \\((\\d+)\\)");
    private static final Pattern RESERVED = Pattern.compile("(\\d+) (\\w+)");
    private static final Map<String, String> UNIT_OF_SUFFIX = Map.of(
            "Nanos",
            "ns",
            "Millis",
            "ms",
            "Tokens",
            "tokens",
            "Bytes",
            "bytes",
            "Count",
            "count",
            "Hertz",
            "Hz",
            "Milliwatts",
            "mW",
            "Millicelsius",
            "m°C");

    /** Names that carry their unit in another way. */
    private static final Map<String, String> UNIT_OF_NAME =
            Map.of("tokenCount", "tokens", "byteOffset", "bytes", "sampledValue", "as the metric says");

    private final String catalog;

    EventCatalogTest() throws IOException {
        catalog = Files.readString(CATALOG);
    }

    @Test
    void kindsAreTheSameInCatalogueRecordsAndSchema() {
        Map<Integer, String> documented = new TreeMap<>();
        for (Matcher section = SECTION.matcher(catalog); section.find(); ) {
            assertThat(documented.put(Integer.valueOf(section.group(2)), section.group(1)))
                    .isNull();
        }
        Map<Integer, String> kinds = new TreeMap<>();
        Map<Integer, String> wireNames = new TreeMap<>();
        for (EventKind kind : EventKind.values()) {
            assertThat(kinds.put(kind.tag(), kind.catalogName())).isNull();
            wireNames.put(kind.tag(), kind.wireName());
        }
        Map<Integer, String> schema = new TreeMap<>();
        for (FieldDescriptor field :
                LogRecord.getDescriptor().getOneofs().get(0).getFields()) {
            schema.put(field.getNumber(), field.getName());
        }

        assertThat(documented).isEqualTo(kinds);
        assertThat(schema).isEqualTo(wireNames);
        assertThat(Arrays.stream(Event.class.getPermittedSubclasses()).map(Class::getSimpleName))
                .containsExactlyInAnyOrderElementsOf(kinds.values());
    }

    @Test
    void reservedNumbersAreTheSameInCatalogueAndSchemaAndUsedByNoKind() {
        Set<Integer> schema = new TreeSet<>();
        for (DescriptorProto.ReservedRange range :
                LogRecord.getDescriptor().toProto().getReservedRangeList()) {
            for (int number = range.getStart(); number < range.getEnd(); number++) {
                schema.add(number);
            }
        }
        Set<Integer> documented = new TreeSet<>();
        String reserved = catalog.substring(catalog.indexOf("## Reserved"));
        for (Matcher entry = RESERVED.matcher(reserved); entry.find(); ) {
            documented.add(Integer.valueOf(entry.group(1)));
        }

        assertThat(documented).isEqualTo(schema).isNotEmpty();
        assertThat(Arrays.stream(EventKind.values()).map(EventKind::tag)).doesNotContainAnyElementsOf(schema);
    }

    @ParameterizedTest
    @EnumSource(EventKind.class)
    void fieldsAreTheSameInCatalogueRecordAndSchema(EventKind kind) {
        Descriptor message =
                LogRecord.getDescriptor().findFieldByNumber(kind.tag()).getMessageType();
        Map<Integer, String> schema = new TreeMap<>();
        message.getFields().forEach(field -> schema.put(field.getNumber(), schemaName(field)));
        Map<Integer, String> documented = new TreeMap<>();
        rows(kind)
                .forEach(row ->
                        assertThat(documented.put(row.number(), row.field())).isNull());

        assertThat(documented).isEqualTo(schema);
        for (RecordComponent component : EventFixtures.full(kind).getClass().getRecordComponents()) {
            Field number = component.getAnnotation(Field.class);
            if (number == null) {
                assertThat(component.getName()).isIn("chunks", "announcements", "rows");
            } else {
                assertThat(schema).containsEntry(number.value(), component.getName());
            }
        }
        for (String field : documented.values()) {
            assertThat(components(kind).containsKey(field) || field.startsWith("announced"))
                    .as(field)
                    .isTrue();
        }
    }

    /** A column's name on the wire says how it is packed; the catalogue and the records do not. */
    private static String schemaName(FieldDescriptor field) {
        return field.isRepeated() ? field.getJsonName().replaceFirst("(Plus1|Code)$", "") : field.getJsonName();
    }

    @ParameterizedTest
    @EnumSource(EventKind.class)
    void aFieldThatCanBeAbsentSaysWhen(EventKind kind) {
        Descriptor message =
                LogRecord.getDescriptor().findFieldByNumber(kind.tag()).getMessageType();
        Map<String, RecordComponent> components = components(kind);
        for (Row row : rows(kind)) {
            RecordComponent component = components.get(row.field());
            FieldDescriptor field = message.findFieldByNumber(row.number());
            if (component == null
                    || component.getType() == List.class
                    || row.field().equals("finish")) {
                assertThat(row.absent()).as(row.field()).isNotEqualTo("never").isNotBlank();
            } else {
                boolean never = row.absent().equals("never") || row.absent().startsWith("empty ");
                assertThat(never).as(row.field()).isEqualTo(!isNullable(component));
            }
            if (!field.isRepeated() && component != null) {
                assertThat(field.hasPresence()).as(row.field()).isEqualTo(isNullable(component));
            }
            assertThat(row.meaning()).as(row.field()).isNotBlank();
        }
    }

    @ParameterizedTest
    @EnumSource(EventKind.class)
    void unitsFollowFromTheNamesAndEveryStampNamesItsClock(EventKind kind) {
        rows(kind).forEach(EventCatalogTest::checkUnit);
    }

    @Test
    void theHeaderIsTheSameInCatalogueRecordAndSchema() {
        String head = catalog.substring(0, catalog.indexOf("## "));
        List<Row> rows = new ArrayList<>();
        for (String line :
                head.lines().filter(line -> line.startsWith("| ")).skip(1).toList()) {
            rows.add(Row.of("| 0 " + line));
        }
        RecordComponent[] components = EventHeader.class.getRecordComponents();

        assertThat(rows)
                .extracting(Row::field)
                .isEqualTo(
                        Arrays.stream(components).map(RecordComponent::getName).toList());
        for (int i = 0; i < components.length; i++) {
            checkUnit(rows.get(i));
            assertThat(rows.get(i).absent().equals("never")).isEqualTo(!isNullable(components[i]));
            FieldDescriptor field = LogRecord.getDescriptor().findFieldByNumber(i + 1);
            assertThat(field.getJsonName()).isEqualTo(components[i].getName());
            assertThat(field.hasPresence()).isEqualTo(isNullable(components[i]));
        }
    }

    private static void checkUnit(Row row) {
        String expected = UNIT_OF_NAME.get(row.field());
        if (expected == null) {
            expected = UNIT_OF_SUFFIX.entrySet().stream()
                    .filter(suffix -> row.field().endsWith(suffix.getKey()))
                    .map(Map.Entry::getValue)
                    .findFirst()
                    .orElse("-");
        }
        assertThat(row.unit()).as("unit of %s", row.field()).isEqualTo(expected);
        boolean time = expected.equals("ns") || expected.equals("ms");
        assertThat(!row.clock().equals("-")).as("clock of %s", row.field()).isEqualTo(time);
    }

    private static boolean isNullable(RecordComponent component) {
        return component.getAnnotatedType().isAnnotationPresent(Nullable.class);
    }

    /** The components of a kind's record and of its rows, by name. */
    private static Map<String, RecordComponent> components(EventKind kind) {
        Map<String, RecordComponent> components = new LinkedHashMap<>();
        Class<?> type = EventFixtures.full(kind).getClass();
        List<Class<?>> types = new ArrayList<>(List.of(type));
        if (type == StepCompleted.class) {
            types.add(SequenceRow.class);
        } else if (type == ChunkDelivered.class) {
            types.add(Chunk.class);
        }
        for (Class<?> each : types) {
            for (RecordComponent component : each.getRecordComponents()) {
                components.put(component.getName(), component);
            }
        }
        return components;
    }

    private List<Row> rows(EventKind kind) {
        String heading = "## " + kind.catalogName() + " (" + kind.tag() + ")\n";
        int start = catalog.indexOf(heading) + heading.length();
        String section = catalog.substring(start, catalog.indexOf("\n## ", start));
        return section.lines()
                .filter(line -> line.matches("\\| \\d+ \\|.*"))
                .map(Row::of)
                .toList();
    }

    /** A line of a table of the catalogue. */
    private record Row(int number, String field, String unit, String clock, String absent, String meaning) {
        static Row of(String line) {
            String[] cells = line.substring(1).split("\\|", -1);
            assertThat(cells).as(line).hasSize(7);
            return new Row(
                    Integer.parseInt(cells[0].strip()),
                    cells[1].strip(),
                    cells[2].strip(),
                    cells[3].strip(),
                    cells[4].strip(),
                    cells[5].strip());
        }
    }
}
