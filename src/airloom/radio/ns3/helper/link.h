// What every kind of link has: nodes with places, frames that go out and are heard, and counts of what became of them.

#pragma once

#include "setup.h"

#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"

#include <deque>
#include <functional>
#include <set>

using namespace ns3;

constexpr uint16_t ETHER_TYPE = 0x88b5; // IEEE 802: for local experiments
constexpr double NEAREST = 0.1;         // m: nearer than that no channel model makes sense
constexpr double NOTHING = -1000;       // dBm

// Tells the frames of Airloom from beacons, acknowledgements and one another; takes no bytes on the air.
class FrameTag : public Tag
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("airloom::FrameTag").SetParent<Tag>().AddConstructor<FrameTag>();
        return id;
    }

    TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }

    uint32_t GetSerializedSize() const override
    {
        return sizeof number + sizeof sender;
    }

    void Serialize(TagBuffer buffer) const override
    {
        buffer.WriteU64(number);
        buffer.WriteU32(sender);
    }

    void Deserialize(TagBuffer buffer) override
    {
        number = buffer.ReadU64();
        sender = buffer.ReadU32();
    }

    void Print(std::ostream& out) const override
    {
        out << number;
    }

    uint64_t number = 0;
    uint32_t sender = 0;
};

// What became of a node's frames, and what it met with on the air: the names and the order of Outcomes in ../../medium.py.
struct Counts
{
    int64_t given = 0;
    int64_t sent = 0;
    int64_t refused = 0; // the radio is off, or has no base station
    int64_t queue_drops = 0;
    int64_t expired = 0;
    int64_t retries = 0;
    int64_t acknowledged = 0;
    int64_t given_up = 0;
    int64_t heard = 0;
    int64_t collisions = 0;
    int64_t noise_losses = 0;
};

// What makes noise for everybody, from a place of its own.
struct Jammer
{
    Vector place;
    double power; // dBm
};

// The losses that the scenario asks for, one after the other. Nodes at one place are taken as NEAREST apart, since some
// models have an infinite signal there.
class Losses : public PropagationLossModel
{
  public:
    explicit Losses(const Setup& setup)
    {
        for (const auto& line : setup.All("loss"))
        {
            auto model = FactoryOf(line).Create<PropagationLossModel>();
            (m_last ? m_last->SetNext(model) : void(m_first = model));
            m_last = model;
        }
        m_by_distance = FactoryOf(setup.All("loss").at(0)).Create<PropagationLossModel>();
    }

    // Noise of jammers at a place, W: by distance alone, so that nothing is drawn.
    double Jamming(const std::vector<Jammer>& jammers, Ptr<MobilityModel> at) const
    {
        double watts = 0;
        for (const auto& jammer : jammers)
        {
            m_jammer->SetPosition(jammer.place);
            watts += 1e-3 * std::pow(10.0, 0.1 * Apart(m_by_distance, jammer.power, m_jammer, at));
        }
        return watts;
    }

    std::set<std::pair<uint32_t, uint32_t>> blocked; // sender and receiver, between whom nothing gets through

  private:
    double DoCalcRxPower(double power, Ptr<MobilityModel> from, Ptr<MobilityModel> to) const override
    {
        if (!blocked.empty() && blocked.count({from->GetObject<Node>()->GetId(), to->GetObject<Node>()->GetId()}))
        {
            return NOTHING;
        }
        return Apart(m_first, power, from, to);
    }

    double Apart(Ptr<PropagationLossModel> model, double power, Ptr<MobilityModel> from, Ptr<MobilityModel> to) const
    {
        if (from->GetDistanceFrom(to) < NEAREST)
        {
            Vector place = from->GetPosition();
            m_here->SetPosition(place);
            m_there->SetPosition(Vector(place.x + NEAREST, place.y, place.z));
            return model->CalcRxPower(power, m_here, m_there);
        }
        return model->CalcRxPower(power, from, to);
    }

    int64_t DoAssignStreams(int64_t stream) override
    {
        return m_first->AssignStreams(stream);
    }

    Ptr<PropagationLossModel> m_first;
    Ptr<PropagationLossModel> m_last;
    Ptr<PropagationLossModel> m_by_distance;
    Ptr<MobilityModel> m_jammer = CreateObject<ConstantPositionMobilityModel>();
    Ptr<MobilityModel> m_here = CreateObject<ConstantPositionMobilityModel>();
    Ptr<MobilityModel> m_there = CreateObject<ConstantPositionMobilityModel>();
};

class Link
{
  public:
    using Heard = std::function<void(const FrameTag& frame, uint32_t receiver, uint32_t size, double strength)>;

    virtual ~Link() = default;

    // To `to`, or to all if it is negative.
    void Send(uint32_t sender, int32_t to, Ptr<Packet> packet)
    {
        counts[sender].given++;
        Ptr<NetDevice> device = devices.Get(sender);
        Address address = to < 0 ? device->GetBroadcast() : devices.Get(to)->GetAddress();
        if (!m_on[sender] || !DoSend(sender, device, packet, address))
        {
            counts[sender].refused++;
        }
    }

    void Place(uint32_t node, Vector place)
    {
        bool on = std::isfinite(place.x + place.y + place.z);
        if (on)
        {
            nodes.Get(node)->GetObject<MobilityModel>()->SetPosition(place);
        }
        if (on != m_on[node])
        {
            m_on[node] = on;
            Turn(node, on);
        }
    }

    // What faults do from now on.
    void Disturb(const std::vector<Jammer>& jammers, std::set<std::pair<uint32_t, uint32_t>> blocked)
    {
        losses->blocked = std::move(blocked);
        if (jammers.empty() && !m_jammed)
        {
            return;
        }
        m_jammed = !jammers.empty();
        for (uint32_t node = 0; node < nodes.GetN(); node++)
        {
            Jam(node, losses->Jamming(jammers, nodes.Get(node)->GetObject<MobilityModel>()));
        }
    }

    // One node more, in the middle of a run.
    void Add(const std::string& name)
    {
        nodes.Create(1);
        MobilityHelper().Install(nodes.Get(nodes.GetN() - 1));
        counts.emplace_back();
        m_on.push_back(true);
        Equip(nodes.GetN() - 1, name);
    }

    // What ns-3 made of the settings, as lines of text.
    virtual std::string Facts() const = 0;

    NodeContainer nodes;
    NetDeviceContainer devices;
    std::deque<Counts> counts; // in which references stay true

  protected:
    static bool IsOurs(Ptr<const Packet> packet)
    {
        FrameTag frame;
        return packet->PeekPacketTag(frame);
    }

    Link(const Setup& setup, Heard heard)
        : counts(setup.Number("nodes")),
          losses(CreateObject<Losses>(setup)),
          pcap(setup.Get("pcap", "")),
          m_on(counts.size(), true),
          m_heard(std::move(heard))
    {
        nodes.Create(counts.size());
        MobilityHelper().Install(nodes);
    }

    void EquipAll(const Setup& setup)
    {
        auto names = setup.All("name");
        for (uint32_t node = 0; node < counts.size(); node++)
        {
            Equip(node, names.at(node));
        }
    }

    // Give a node its device, with all that watches it.
    virtual void Equip(uint32_t node, const std::string& name) = 0;

    // Let a node have that much noise from elsewhere, W.
    virtual void Jam(uint32_t node, double watts) = 0;

    // Calls Arrived for each frame that a device gives to whoever is above it.
    void Listen(uint32_t node)
    {
        devices.Get(node)->SetReceiveCallback(
            [this, node](Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&) {
                Arrived(node, packet);
                return true;
            });
    }

    Ptr<Losses> losses;
    std::string pcap; // how the names of pcap files begin; empty if none are wanted

    virtual bool DoSend(uint32_t, Ptr<NetDevice> device, Ptr<Packet> packet, const Address& to)
    {
        return device->Send(packet, to, ETHER_TYPE);
    }

    // The strength in dBm with which the node hears what it is being given.
    virtual double Strength(uint32_t node, const FrameTag& frame) const = 0;
    virtual void Turn(uint32_t node, bool on) = 0;

  private:
    void Arrived(uint32_t node, Ptr<const Packet> packet)
    {
        FrameTag frame;
        if (packet->PeekPacketTag(frame) && m_on[node])
        {
            counts[node].heard++;
            m_heard(frame, node, packet->GetSize(), Strength(node, frame));
        }
    }

    bool m_jammed = false;
    std::vector<bool> m_on;
    Heard m_heard;
};
